// Moves the focus when its element disappears: a removed row, a button that has done its work. Without this, the
// keyboard would start at the top again, and a screen reader would fall silent.

import { type RefObject, useEffect } from "react";

/** When something in the page disappears, the focus moves to the next row, the previous one, or the page. */
export function useKeptFocus(page: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const main = page.current;
    if (main === null) return;
    let last: Place | null = null;
    const remember = ({ target }: FocusEvent) => {
      last = target instanceof HTMLElement && target !== main ? placeOf(target) : null;
    };
    const look = () => {
      if (last === null || last.element.isConnected) return;
      // Inside a dialog the focus takes care of itself; it comes back here when the dialog closes.
      if (document.activeElement !== document.body) return;
      (controlBeside(last) ?? main).focus({ preventScroll: true });
    };
    const observer = new MutationObserver(look);
    main.addEventListener("focusin", remember);
    // Dialogs stand beside the page, and the button that opened one may be gone before it closes.
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      main.removeEventListener("focusin", remember);
      observer.disconnect();
    };
  }, [page]);
}

type Place = { element: HTMLElement; near: (Element | null | undefined)[] };

function placeOf(element: HTMLElement): Place {
  const row = element.closest("tr, li");
  return { element, near: [row?.nextElementSibling, row?.previousElementSibling] };
}

/** The last control of a row is its action. */
function controlBeside({ near }: Place): HTMLElement | undefined {
  const row = near.find((each) => each?.isConnected);
  return [...(row?.querySelectorAll<HTMLElement>("a, button") ?? [])].at(-1);
}
