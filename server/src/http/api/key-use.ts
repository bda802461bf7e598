// Notes the API key of every call whose key was found in use. Only the statement that serves a call knows that: an
// answer alone says nothing, because some are given before anybody looks for the key.

import type { Route } from "../frame/route.ts";

export function noteKeyUse(routes: Route[], note: (keyDigest: Buffer) => void): Route[] {
  return routes.map((route) => {
    if (route.access !== "api_key") return route;
    return {
      ...route,
      handle: async (call) => {
        const answer = await route.handle(call);
        if (call.isKeyKnown === true) note(call.keyDigest);
        return answer;
      },
    };
  });
}
