// A new key, shown once, with a command that creates a first request with it.

import type { IssuedKey } from "../../../../server/src/wire/dashboard-keys.ts";
import { Visible } from "../../look/visible-text.tsx";
import { CopyBox } from "../forms/copy-box.tsx";
import { DialogActions } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { basePath } from "../service/base-path.ts";
import { useCall } from "../service/queries.ts";
import { useMe } from "../session/membership.ts";
import { curlOfFirstRequest } from "./first-request.ts";

type IssuedKeyViewProps = { issued: IssuedKey; workspaceId: string; onDone: () => void };

export function IssuedKeyView({ issued, workspaceId, onDone }: IssuedKeyViewProps) {
  const workspace = useCall("GET /workspaces/:workspaceId", { params: { workspaceId } });
  const { email } = useMe();
  const line = curlOfFirstRequest({
    apiUrl: workspace.data?.apiUrl ?? `${location.origin}${basePath}`,
    key: issued.key,
    notify: email,
  });
  return (
    <div className="stack">
      <CopyBox label="API key" text={issued.key} isSecret />
      <CopyBox label="Try it: ask yourself for a first approval" text={line} />
      <p className="quiet small">
        Paste it into a terminal. The request appears under Requests, and the mail that asks you
        comes to <Visible text={email} />.
      </p>
      <DialogActions>
        <Button variant="primary" onClick={onDone}>
          I have stored the key
        </Button>
      </DialogActions>
    </div>
  );
}
