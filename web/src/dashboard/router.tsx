// Every address of the dashboard and the page behind it. A page's code is fetched when it is first needed.

import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import { basePath } from "./base-path.ts";
import { Home } from "./home.tsx";
import { NotFound, NotFoundAtAll } from "./not-found.tsx";
import { parseSearch, stringifySearch, toPageSearch } from "./page-search.ts";
import { Loading } from "./parts/loading.tsx";
import { Problem } from "./parts/problem.tsx";
import { ToastProvider } from "./parts/toast.tsx";
import { Shell } from "./shell.tsx";
import { WorkspaceGate } from "./workspace-gate.tsx";

const rootRoute = createRootRoute({
  component: () => (
    <ToastProvider>
      <Outlet />
    </ToastProvider>
  ),
  notFoundComponent: NotFoundAtAll,
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/app/sign-in",
  validateSearch: toSignInSearch,
  component: lazyRouteComponent(() => import("./pages/sign-in.tsx"), "SignInPage"),
});

const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  component: Shell,
});

const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/app",
  component: Home,
});

const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/app/account",
  component: lazyRouteComponent(() => import("./pages/account.tsx"), "AccountPage"),
});

const workspaceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/app/w/$workspaceId",
  validateSearch: toPageSearch,
  component: WorkspaceGate,
});

const overviewRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/",
  component: lazyRouteComponent(() => import("./pages/overview.tsx"), "OverviewPage"),
});

const requestsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "requests",
  component: lazyRouteComponent(() => import("./pages/requests.tsx"), "RequestsPage"),
});

const requestRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "requests/$requestId",
  component: lazyRouteComponent(() => import("./pages/request.tsx"), "RequestPage"),
});

const endpointsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "endpoints",
  component: lazyRouteComponent(() => import("./pages/endpoints.tsx"), "EndpointsPage"),
});

const endpointRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "endpoints/$endpointId",
  component: lazyRouteComponent(() => import("./pages/endpoint.tsx"), "EndpointPage"),
});

const deliveryRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "deliveries/$deliveryId",
  component: lazyRouteComponent(() => import("./pages/delivery.tsx"), "DeliveryPage"),
});

const keysRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "keys",
  component: lazyRouteComponent(() => import("./pages/keys.tsx"), "KeysPage"),
});

const peopleRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "people",
  component: lazyRouteComponent(() => import("./pages/people.tsx"), "PeoplePage"),
});

const settingsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "settings",
  component: lazyRouteComponent(() => import("./pages/settings.tsx"), "SettingsPage"),
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  shellRoute.addChildren([
    homeRoute,
    accountRoute,
    workspaceRoute.addChildren([
      overviewRoute,
      requestsRoute,
      requestRoute,
      endpointsRoute,
      endpointRoute,
      deliveryRoute,
      keysRoute,
      peopleRoute,
      settingsRoute,
    ]),
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: basePath === "" ? "/" : basePath,
  parseSearch,
  stringifySearch,
  scrollRestoration: true,
  defaultPreload: "intent",
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: PageFailed,
  defaultPendingComponent: () => <Loading label="Loading the page" lines={6} />,
});

type SignInSearch = { next?: string; problem?: string; step?: "code" };

function toSignInSearch({ next, problem, step }: Record<string, unknown>): SignInSearch {
  return {
    ...(typeof next === "string" ? { next } : {}),
    ...(typeof problem === "string" ? { problem } : {}),
    ...(step === "code" ? { step } : {}),
  };
}

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

/** Mostly a page whose code is gone since a new version was put in place: loading again brings the new one. */
function PageFailed({ error }: ErrorComponentProps) {
  return <Problem error={error} onRetry={() => location.reload()} />;
}
