// A long number once more in groups of three digits, as people read amounts. It stands beside the value and never
// replaces it.

/** No sign but a minus, no zero in front as order numbers have, no exponent. Longer ones nobody reads as an amount. */
const longNumber = /^(-?)([1-9][0-9]{4,29})(\.[0-9]{1,30})?$/;

/** Null when the text is no plain decimal number, or has fewer than five digits before the point. */
export function groupedDigits(text: string): string | null {
  const [, minus = "", whole = "", fraction = ""] = longNumber.exec(text) ?? [];
  if (whole === "") return null;
  return minus + whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ",") + fraction;
}
