// The requests of the list that a member has chosen. Rows read it where they stand, so that the list need not pass it on.

import { createContext, useContext } from "react";

export type Selection = {
  /** The boxes are shown. */
  isOn: boolean;
  isChosen: (id: string) => boolean;
  choose: (id: string, isWanted: boolean) => void;
};

export const SelectionContext = createContext<Selection>({
  isOn: false,
  isChosen: () => false,
  choose: () => {},
});

export function useSelection(): Selection {
  return useContext(SelectionContext);
}
