// The paths of calls: the one under which people reach the service, which a proxy in front may pass on with every call or
// take off, and those that lead to no route.

import type { Answer } from "./call.ts";
import { notFound, problem } from "./problems.ts";
import type { Route } from "./route.ts";

/** Empty when PUBLIC_URL has no path. */
export function basePathOf(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/+$/, "");
}

/** The address without the base path. A route's own address stays: then the base path just has the name of a route. */
export function withoutBasePath(
  url: string,
  basePath: string,
  isKnown: (path: string) => boolean,
): string {
  if (basePath === "" || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  const isBelow = rest === "" || rest.startsWith("/") || rest.startsWith("?");
  if (!isBelow || isKnown(url.split("?")[0] ?? "")) return url;
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** A known path with a wrong method names its methods, unless only this machine may know the path. */
export function answerOfNoRoute(url: string, routes: Route[]): Answer {
  const [path = ""] = url.split("?");
  const methods = routes
    .filter((route) => route.access !== "this_machine" && matchesPath(route.path, path))
    .map((route) => route.method);
  if (methods.length === 0) return notFound();
  const allowed = (methods.includes("GET") ? [...methods, "HEAD"] : methods).join(", ");
  return problem(
    "method_not_allowed",
    `This path answers ${allowed} only. See /v1/openapi.json for every call.`,
    { allow: allowed },
  );
}

export function matchesPath(pattern: string, path: string): boolean {
  const parts = path.split("/");
  const patternParts = pattern.split("/");
  return (
    parts.length === patternParts.length &&
    patternParts.every((part, at) => (part.startsWith(":") ? parts[at] !== "" : part === parts[at]))
  );
}

/** A path that can't be decoded is taken literally, so that it is as unknown as any other. */
export function withDecodablePath(url: string): string {
  const [path = "", ...query] = url.split("?");
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll("%", "%25"), ...query].join("?");
  }
}
