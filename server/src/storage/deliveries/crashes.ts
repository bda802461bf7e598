// SQL about attempts that a crash cut short, for the claims. A worker that stops in good order gives its attempts back and
// says how long each lasted. After a crash nobody can say that: the duration stays empty, and the lease runs out.

import { crashDelaysSeconds, crashesInRowMax, retryJitter } from "../../domain/limits.ts";

/**
 * How many crashes have cut a delivery short since its last attempt that ended by itself. `delivery` is a row whose lease
 * has run out, so its latest attempt, still open, is one of them.
 */
export function crashesInRowOf(delivery: string): string {
  return `(
    select count(*)::int from attempts a
    where a.workspace_id = ${delivery}.workspace_id and a.delivery_id = ${delivery}.id
      and a.duration_ms is null
      and a.number > coalesce((
        select ended.number from attempts ended
        where ended.workspace_id = ${delivery}.workspace_id and ended.delivery_id = ${delivery}.id
          and ended.outcome <> 'interrupted'
        order by ended.number desc limit 1
      ), 0)
  )`;
}

/**
 * How long the delivery waits after them. Spread, so that deliveries which one of them took down come back without it.
 * After too many it doesn't wait: the worker that claims it gives it up.
 */
export function crashDelaySecondsOf(crashes: string): string {
  return `
    case when ${crashes} between 1 and ${crashesInRowMax - 1}
      then (array[${crashDelaysSeconds.join(", ")}])[least(${crashes}, ${crashDelaysSeconds.length})]
        * (${1 - retryJitter} + ${2 * retryJitter} * random())
      else 0 end`;
}
