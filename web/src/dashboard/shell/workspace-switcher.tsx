// The current workspace, and the way to the others.

import { useNavigate } from "@tanstack/react-router";
import type { Me } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Menu, MenuItem, MenuLabel } from "../forms/menu.tsx";
import { Icon } from "../parts/icon.tsx";
import { roleName } from "../session/roles.ts";

type WorkspaceSwitcherProps = { me: Me; current: string | null };

export function WorkspaceSwitcher({ me, current }: WorkspaceSwitcherProps) {
  const navigate = useNavigate();
  const workspace = me.workspaces.find(({ id }) => id === current);
  if (workspace === undefined) return null;
  return (
    <div className="switcher-slot">
      <Menu
        trigger={
          <button type="button" className="switcher">
            <span className="tile" aria-hidden="true">
              {initialOf(workspace.name)}
            </span>
            <span className="switcher-words">
              <span className="sr-only">Workspace: </span>
              <span className="switcher-name">
                <Visible text={workspace.name} />
              </span>
              <span className="switcher-role">{roleName[workspace.role]}</span>
            </span>
            <Icon name="updown" />
          </button>
        }
      >
        <MenuLabel>Workspaces</MenuLabel>
        {me.workspaces.map(({ id, name, role }) => (
          <MenuItem
            key={id}
            onSelect={() =>
              void navigate({ to: "/app/w/$workspaceId", params: { workspaceId: id } })
            }
          >
            <span className="tile" aria-hidden="true">
              {initialOf(name)}
            </span>
            <span className="menu-words">
              <Visible text={name} />
              <span className="menu-note">{roleName[role]}</span>
            </span>
            {id === current && (
              <>
                <Icon name="check" />
                <span className="sr-only">, you are here</span>
              </>
            )}
          </MenuItem>
        ))}
      </Menu>
    </div>
  );
}

/** The first letter or digit; a name may begin with anything. */
function initialOf(name: string): string {
  return (/[\p{L}\p{N}]/u.exec(name)?.[0] ?? "·").toLocaleUpperCase();
}
