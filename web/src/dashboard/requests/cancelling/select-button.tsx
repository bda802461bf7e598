// Shows the boxes beside the pending requests. "Done" hides them, not a second press: people double-tap.

import { Button } from "../../parts/button.tsx";
import type { Selecting } from "./use-selecting.ts";

export function SelectButton({ selecting }: { selecting: Selecting }) {
  const { isOffered, selection, open } = selecting;
  if (!isOffered) return null;
  return (
    <Button disabled={selection.isOn} onClick={open}>
      Cancel several
    </Button>
  );
}
