// Until the start is complete no call is served: the port is taken early, and a start can still fail.

import { problem } from "./problems.ts";
import type { Route } from "./route.ts";

/** The process lives even while it cannot serve. */
const alwaysServed = "/healthz";

export function onceStarted(routes: Route[], isStarted: () => boolean): Route[] {
  return routes.map((route) => {
    if (route.path === alwaysServed) return route;
    const { handle, onFault = (answer) => answer } = route;
    return { ...route, handle: (call) => (isStarted() ? handle(call) : onFault(starting())) };
  });
}

function starting() {
  return problem("unavailable", "The service is starting. Try again in a moment.");
}
