// Notes the use of an API key, once a statement has found it. An answer alone doesn't prove that: some are given before
// anything looks for the key.

import type { Route } from "../frame/route.ts";

export function noteKeyUse(routes: Route[], note: (keyDigest: Buffer) => void): Route[] {
  return routes.map((route) => {
    if (route.access !== "api_key" && route.access !== "mcp") return route;
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
