// Scrolls to a part of the page and moves the focus there.

export function lead(target: string | HTMLElement | null): void {
  const element = typeof target === "string" ? document.getElementById(target) : target;
  if (element === null) return;
  element.tabIndex = -1;
  const { top, bottom } = element.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) element.scrollIntoView({ block: "nearest" });
  element.focus({ preventScroll: true });
}
