// Where the focus goes when what had it is gone: a row that was removed, a button that has done its work. Without
// this, a keyboard would begin again at the top of the browser, and a screen reader would fall silent.

import { type RefObject, useEffect } from "react";

/** While the page is there, whatever vanishes in it hands the focus on: to the next row, the one before, the page. */
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
      // In a dialog it is on its own way; it comes back here when that closes.
      if (document.activeElement !== document.body) return;
      (controlBeside(last) ?? main).focus({ preventScroll: true });
    };
    const observer = new MutationObserver(look);
    main.addEventListener("focusin", remember);
    // Dialogs stand beside the page, and what opened one may be gone before it closes.
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

/** The last control of a row is what one does with it. */
function controlBeside({ near }: Place): HTMLElement | undefined {
  const row = near.find((each) => each?.isConnected);
  return [...(row?.querySelectorAll<HTMLElement>("a, button") ?? [])].at(-1);
}
