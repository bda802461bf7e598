// Serves no call until the start is complete: the port is taken early, and a start can still fail.

import { problem } from "./problems.ts";
import type { Route } from "./route.ts";

/** The health check answers even then. */
const alwaysServed = "/healthz";

export function onceStarted(routes: Route[], isStarted: () => boolean): Route[] {
  return routes.map((route) => {
    if (route.path === alwaysServed) return route;
    const { handle, onFault = (answer) => answer } = route;
    return { ...route, handle: (call) => (isStarted() ? handle(call) : onFault(starting(), call)) };
  });
}

function starting() {
  return problem("unavailable", "The service is starting. Try again in a moment.");
}
