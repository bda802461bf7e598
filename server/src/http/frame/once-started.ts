// Calls in the life of a process: none is served until the start is complete, because the port is taken early and a start
// can still fail; and those under way are counted, because a stop waits for them.

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

/** Of calls that have arrived whole and are not answered yet. */
export class CallsUnderWay {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** A large body is admitted before it is read to its end, and what that waits for counts, too. */
  counted(routes: Route[]): Route[] {
    return routes.map((route) => {
      const { handle, admit } = route;
      return {
        ...route,
        handle: (call) => this.#during(() => handle(call)),
        ...(admit === undefined ? {} : { admit: (caller) => this.#during(() => admit(caller)) }),
      };
    });
  }

  async #during<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    this.#count += 1;
    try {
      return await work();
    } finally {
      this.#count -= 1;
    }
  }
}
