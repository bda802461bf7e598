// Small values that the browser keeps, for the tab or on the device. It may refuse to keep anything; then reads find
// nothing, and nothing else is lost.

type Where = "tab" | "device";

export function recall(where: Where, key: string): string | null {
  try {
    return storageOf(where).getItem(key);
  } catch {
    return null;
  }
}

/** Null forgets it. */
export function remember(where: Where, key: string, text: string | null): void {
  try {
    if (text === null) storageOf(where).removeItem(key);
    else storageOf(where).setItem(key, text);
  } catch {
    // Not kept.
  }
}

function storageOf(where: Where): Storage {
  return where === "tab" ? sessionStorage : localStorage;
}
