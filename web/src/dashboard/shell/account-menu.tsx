// The menu of the signed-in person: their inbox, the account page and signing out.

import { useNavigate } from "@tanstack/react-router";
import { Visible } from "../../look/visible-text.tsx";
import { Menu, MenuItem, MenuLabel, MenuLine } from "../forms/menu.tsx";
import { Icon } from "../parts/icon.tsx";
import { useToast } from "../parts/toast.tsx";
import { ApiError } from "../service/api.ts";
import { basePath } from "../service/base-path.ts";
import { signOut } from "../session/signing.ts";

export function AccountMenu({ email }: { email: string }) {
  const navigate = useNavigate();
  const toast = useToast();
  const leave = () =>
    signOut().catch((error: unknown) =>
      toast(
        error instanceof ApiError ? (
          <Visible text={error.message} />
        ) : (
          "You could not be signed out. Try again."
        ),
        "alert",
      ),
    );
  return (
    <div className="account-slot">
      <Menu
        trigger={
          <button type="button" className="switcher account">
            <span className="tile tile-round" aria-hidden="true">
              {email.charAt(0).toLocaleUpperCase()}
            </span>
            <span className="switcher-words">
              <span className="sr-only">Your account: </span>
              <span className="switcher-name">
                <Visible text={email} />
              </span>
            </span>
            <Icon name="updown" />
          </button>
        }
      >
        <MenuLabel>
          Signed in as{" "}
          <span className="menu-email">
            <Visible text={email} />
          </span>
        </MenuLabel>
        <MenuItem onSelect={() => location.assign(`${basePath}/inbox`)}>
          <Icon name="inbox" />
          Your inbox
        </MenuItem>
        <MenuItem onSelect={() => void navigate({ to: "/app/account" })}>
          <Icon name="account" />
          Account and sessions
        </MenuItem>
        <MenuItem onSelect={() => void window.open(`${basePath}/docs`, "_blank", "noreferrer")}>
          <Icon name="docs" />
          Documentation
          <span className="sr-only"> (opens a new tab)</span>
        </MenuItem>
        <MenuLine />
        <MenuItem onSelect={() => void leave()}>
          <Icon name="leave" />
          Sign out
        </MenuItem>
      </Menu>
    </div>
  );
}
