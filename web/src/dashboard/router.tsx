// Every address of the dashboard and the page behind it. A page's code is fetched when it is first needed.

import { createRootRoute, createRoute, createRouter, Outlet } from "@tanstack/react-router";
import { ToastProvider } from "./parts/toast.tsx";
import { basePath } from "./service/base-path.ts";
import { Home } from "./shell/home.tsx";
import { NotFound, NotFoundAtAll } from "./shell/not-found.tsx";
import { page } from "./shell/page-code.ts";
import { PageFailed } from "./shell/page-failed.tsx";
import { parseSearch, stringifySearch, toPageSearch } from "./shell/page-search.ts";
import { Shell } from "./shell/shell.tsx";
import { WorkspaceGate } from "./shell/workspace-gate.tsx";
import { Loading } from "./states/loading.tsx";

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
  component: page(() => import("./sign-in/sign-in-page.tsx"), "SignInPage"),
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
  component: page(() => import("./account/account-page.tsx"), "AccountPage"),
});

const connectRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/app/connect",
  component: page(() => import("./connect/connect-page.tsx"), "ConnectPage"),
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
  component: page(() => import("./figures/overview-page.tsx"), "OverviewPage"),
});

const requestsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "requests",
  component: page(() => import("./requests/requests-page.tsx"), "RequestsPage"),
});

const requestRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "requests/$requestId",
  component: page(() => import("./requests/request-page.tsx"), "RequestPage"),
});

const endpointsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "endpoints",
  component: page(() => import("./endpoints/endpoints-page.tsx"), "EndpointsPage"),
});

const endpointRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "endpoints/$endpointId",
  component: page(() => import("./endpoints/endpoint-page.tsx"), "EndpointPage"),
});

const deliveryRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "deliveries/$deliveryId",
  component: page(() => import("./deliveries/delivery-page.tsx"), "DeliveryPage"),
});

const keysRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "keys",
  component: page(() => import("./keys/keys-page.tsx"), "KeysPage"),
});

const peopleRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "people",
  component: page(() => import("./people/people-page.tsx"), "PeoplePage"),
});

const settingsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "settings",
  component: page(() => import("./settings/settings-page.tsx"), "SettingsPage"),
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  shellRoute.addChildren([
    homeRoute,
    accountRoute,
    connectRoute,
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
