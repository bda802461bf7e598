// Whether somebody may be about to press something in the list, so that nothing in it may move.

export function isPointedAt(list: HTMLElement | null): boolean {
  const isInSight = list !== null && list.getClientRects().length > 0;
  if (!isInSight || document.visibilityState === "hidden") return false;
  // Nobody knows where a finger is before it touches.
  if (matchMedia("(hover: none)").matches) return true;
  return list.matches(":hover") || list.contains(document.activeElement) || list.scrollTop > 0;
}
