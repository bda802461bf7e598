// Who is asked instead of somebody who is away. People are compared as `personOf` writes them.

import { delegateStepsMax } from "../shown/field-limits.ts";

/**
 * The chain of delegates that begins at this person, the one who is asked last; empty if they are not away, or nobody may
 * step in. The chain ends at somebody who is there, after three steps, and before it comes back to anybody or reaches an excluded
 * person. An excluded person passes nothing on either: they would choose who approves their own request.
 */
export function delegatesOf(
  person: string,
  awayTo: ReadonlyMap<string, string>,
  excluded: ReadonlySet<string>,
): string[] {
  const chain = [person];
  for (let step = 0; step < delegateStepsMax; step += 1) {
    const next = awayTo.get(chain.at(-1) ?? person);
    if (next === undefined || chain.includes(next) || excluded.has(next)) break;
    chain.push(next);
  }
  return chain.slice(1);
}
