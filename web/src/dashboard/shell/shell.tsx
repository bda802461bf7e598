// The frame around every page: navigation, the current workspace, and the account menu.

import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { Me } from "../../../../server/src/wire/dashboard-contract.ts";
import { Brand } from "../../look/brand.tsx";
import { marksOf } from "../attention/attention-lines.ts";
import { useAttention } from "../attention/use-attention.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { ApiError } from "../service/api.ts";
import { queryFor } from "../service/queries.ts";
import { lastWorkspace, rememberWorkspace } from "../session/last-workspace.ts";
import { MeContext, useMembershipOrNone } from "../session/membership.ts";
import { Loading } from "../states/loading.tsx";
import { Problem } from "../states/problem.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { Invitations } from "./invitations.tsx";
import { useKeptFocus } from "./kept-focus.ts";
import { WorkspaceSwitcher } from "./workspace-switcher.tsx";

export function Shell() {
  const { data: me, error, refetch } = useQuery(queryFor("GET /me"));
  if (me !== undefined) {
    return (
      <MeContext value={me}>
        <Frame me={me} />
      </MeContext>
    );
  }
  return (
    <div className="shell">
      <div className="rail" aria-hidden="true" />
      <main className="main">
        {error === null || isSignedOut(error) ? (
          <Loading label="Loading the dashboard" lines={6} />
        ) : (
          <Problem error={error} onRetry={() => void refetch()} />
        )}
      </main>
    </div>
  );
}

/** By then the sign-in page is loading already. */
function isSignedOut(error: Error): boolean {
  return error instanceof ApiError && error.code === "signed_out";
}

function Frame({ me }: { me: Me }) {
  const main = useRef<HTMLElement>(null);
  const membership = useMembershipOrNone();
  // On the account page, the navigation stays that of the former workspace.
  const workspace = membership?.workspaceId ?? lastWorkspace(me)?.id ?? null;
  const { pathname } = useLocation();
  const lastPath = useRef(pathname);
  useKeptFocus(main);
  useEffect(() => {
    if (membership !== null) rememberWorkspace(membership.workspaceId);
  }, [membership?.workspaceId]);
  useEffect(() => {
    // Screen reader users are taken to the top of the new page.
    if (lastPath.current !== pathname) main.current?.focus({ preventScroll: true });
    lastPath.current = pathname;
  }, [pathname]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="rail">
        <div className="rail-brand">
          <Link to="/app" aria-label="Countersign: to your workspace">
            <Brand />
          </Link>
        </div>
        <WorkspaceSwitcher me={me} current={workspace} />
        {workspace !== null && <Places workspaceId={workspace} />}
        <AccountMenu email={me.email} />
      </header>
      <main className="main" id="main" ref={main} tabIndex={-1}>
        <Invitations invitations={me.invitations} />
        <Outlet />
      </main>
    </div>
  );
}

const places = [
  { to: "/app/w/$workspaceId", icon: "overview", label: "Overview" },
  { to: "/app/w/$workspaceId/requests", icon: "requests", label: "Requests" },
  { to: "/app/w/$workspaceId/endpoints", icon: "webhooks", label: "Webhooks" },
  { to: "/app/w/$workspaceId/keys", icon: "keys", label: "API keys" },
  { to: "/app/w/$workspaceId/people", icon: "people", label: "People" },
  { to: "/app/w/$workspaceId/settings", icon: "settings", label: "Settings" },
] as const satisfies readonly { to: string; icon: IconName; label: string }[];

function Places({ workspaceId }: { workspaceId: string }) {
  const { data: attention } = useAttention(workspaceId);
  const marks: Partial<Record<IconName, string>> =
    attention === undefined ? {} : marksOf(attention);
  return (
    <nav className="places" aria-label="Workspace">
      <ul>
        {places.map(({ to, icon, label }) => (
          <li key={to}>
            <Link
              to={to}
              params={{ workspaceId }}
              className="place"
              aria-describedby={marks[icon] === undefined ? undefined : `mark-${icon}`}
              title={marks[icon]}
              activeOptions={{ exact: icon === "overview", includeSearch: false }}
            >
              <Icon name={icon} />
              {label}
              {marks[icon] !== undefined && <Mark />}
            </Link>
            {marks[icon] !== undefined && (
              // Beside the link: its name stays that of the place.
              <span id={`mark-${icon}`} className="sr-only">
                Needs attention: {marks[icon]}
              </span>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Something in this place needs attention. The words stand beside the link. */
function Mark() {
  return (
    <span className="place-mark">
      <Icon name="alert" />
    </span>
  );
}
