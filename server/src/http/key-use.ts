// Notes the API key of every call that was let in. Only the statement that serves a call knows whether its key is
// good; what it answers to all others is 401, and to nobody else.

import type { Route } from "./route.ts";

const refusedStatus = 401;

export function noteKeyUse(routes: Route[], note: (keyDigest: Buffer) => void): Route[] {
  return routes.map((route) => {
    if (route.access !== "api_key") return route;
    return {
      ...route,
      handle: async (call) => {
        const answer = await route.handle(call);
        if (answer.status !== refusedStatus) note(call.keyDigest);
        return answer;
      },
    };
  });
}
