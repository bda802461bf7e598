// Every address of the dashboard and the page behind it. A page's code is fetched when it is first needed.

import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import { ToastProvider } from "./parts/toast.tsx";
import { basePath } from "./service/base-path.ts";
import { Home } from "./shell/home.tsx";
import { NotFound, NotFoundAtAll } from "./shell/not-found.tsx";
import { parseSearch, stringifySearch, toPageSearch } from "./shell/page-search.ts";
import { Shell } from "./shell/shell.tsx";
import { WorkspaceGate } from "./shell/workspace-gate.tsx";
import { Loading } from "./states/loading.tsx";
import { Problem } from "./states/problem.tsx";

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
  component: lazyRouteComponent(() => import("./sign-in/sign-in-page.tsx"), "SignInPage"),
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
  component: lazyRouteComponent(() => import("./account/account-page.tsx"), "AccountPage"),
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
  component: lazyRouteComponent(() => import("./figures/overview-page.tsx"), "OverviewPage"),
});

const requestsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "requests",
  component: lazyRouteComponent(() => import("./requests/requests-page.tsx"), "RequestsPage"),
});

const requestRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "requests/$requestId",
  component: lazyRouteComponent(() => import("./requests/request-page.tsx"), "RequestPage"),
});

const endpointsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "endpoints",
  component: lazyRouteComponent(() => import("./endpoints/endpoints-page.tsx"), "EndpointsPage"),
});

const endpointRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "endpoints/$endpointId",
  component: lazyRouteComponent(() => import("./endpoints/endpoint-page.tsx"), "EndpointPage"),
});

const deliveryRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "deliveries/$deliveryId",
  component: lazyRouteComponent(() => import("./deliveries/delivery-page.tsx"), "DeliveryPage"),
});

const keysRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "keys",
  component: lazyRouteComponent(() => import("./keys/keys-page.tsx"), "KeysPage"),
});

const peopleRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "people",
  component: lazyRouteComponent(() => import("./people/people-page.tsx"), "PeoplePage"),
});

const settingsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "settings",
  component: lazyRouteComponent(() => import("./settings/settings-page.tsx"), "SettingsPage"),
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

/** Usually a page whose code is gone after an upgrade: reloading brings the new one. */
function PageFailed({ error }: ErrorComponentProps) {
  return <Problem error={error} onRetry={() => location.reload()} />;
}
