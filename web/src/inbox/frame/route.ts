// The places of the inbox and their addresses.

export type ListName = "waiting" | "past";

export type Route =
  | { kind: "list"; list: ListName }
  /** `list` stands beside it; `id` is the person's place, where it is known. */
  | { kind: "request"; requestId: string; list: ListName; id: string | null }
  | { kind: "settings" };

/** What the browser's history keeps beside an address. */
type Kept = { list?: unknown; id?: unknown } | null;

export function routeOf(path: string, kept: Kept = null): Route {
  const [first = "", second = "", ...rest] = path.split("/").filter((part) => part !== "");
  if (first === "settings" && second === "") return { kind: "settings" };
  if (first === "past" && second === "") return { kind: "list", list: "past" };
  if (first === "requests" && second !== "" && rest.length === 0) {
    const requestId = decoded(second);
    const id = typeof kept?.id === "string" ? kept.id : null;
    return { kind: "request", requestId, list: kept?.list === "past" ? "past" : "waiting", id };
  }
  return { kind: "list", list: "waiting" };
}

/** Below the address of the inbox. */
export function pathOf(route: Route): string {
  switch (route.kind) {
    case "list":
      return route.list === "past" ? "/past" : "";
    case "request":
      return `/requests/${encodeURIComponent(route.requestId)}`;
    case "settings":
      return "/settings";
    default:
      return route satisfies never;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
