// Where the reader is in the inbox, in step with the browser's own history.

import { useEffect, useState } from "react";
import { basePath } from "../service/base-path.ts";
import { pathOf, type Route, routeOf } from "./route.ts";

const home = `${basePath}/inbox`;

export type Navigation = {
  route: Route;
  go: (route: Route) => void;
  /** To the list, the way the reader came if they came from there. */
  toList: () => void;
};

export function useRoute(): Navigation {
  const [route, setRoute] = useState(current);
  useEffect(() => {
    // The page knows better where its lists were.
    history.scrollRestoration = "manual";
    const onPop = () => setRoute(current());
    addEventListener("popstate", onPop);
    return () => removeEventListener("popstate", onPop);
  }, []);
  const go = (to: Route) => {
    const kept = to.kind === "request" ? { list: to.list, id: to.id } : {};
    const isFromList = route.kind === "list";
    const isSideways = route.kind === "request" && to.kind === "request";
    const state = { ...kept, isFromList: isFromList || (isSideways && isAfterList()) };
    // From one request to the next is no step back: the list is.
    if (isSideways) history.replaceState(state, "", addressOf(to));
    else history.pushState(state, "", addressOf(to));
    setRoute(to);
  };
  const toList = () => {
    if (isAfterList()) return history.back();
    const list = route.kind === "request" ? route.list : "waiting";
    history.replaceState(null, "", addressOf({ kind: "list", list }));
    setRoute({ kind: "list", list });
  };
  return { route, go, toList };
}

export function addressOf(route: Route): string {
  return `${home}${pathOf(route)}`;
}

function current(): Route {
  return routeOf(location.pathname.slice(home.length), history.state);
}

function isAfterList(): boolean {
  return history.state?.isFromList === true;
}
