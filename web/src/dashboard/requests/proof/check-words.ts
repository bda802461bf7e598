// What a check found, in one sentence. It never says more than was checked.

import type { Check } from "./check.ts";

export function summaryOf(checks: readonly Pick<Check, "state">[]): string {
  const count = (state: Check["state"]) => checks.filter((each) => each.state === state).length;
  const [wrong, open, right] = [count("wrong"), count("open"), count("right")];
  if (wrong > 0) {
    return `${lines(wrong)} of ${checks.length} ${wrong === 1 ? "doesn’t" : "don’t"} fit: don’t rely on this proof. Tell the operator, and keep a copy of this page.`;
  }
  if (right === 0) return "Nothing could be checked.";
  const rest = open === 0 ? "" : ` ${lines(open)} could not be checked: read why below.`;
  return `${lines(right)} ${right === 1 ? "was" : "were"} checked, and nothing differs.${rest}`;
}

function lines(count: number): string {
  return count === 1 ? "1 line" : `${count} lines`;
}
