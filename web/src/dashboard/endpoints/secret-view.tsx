// Shows a signing secret once, with instructions to verify a webhook.

import { CopyBox } from "../forms/copy-box.tsx";
import { DialogActions } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { Verifying } from "./verifying.tsx";

type SecretViewProps = { secret: string; onDone: () => void };

export function SecretView({ secret, onDone }: SecretViewProps) {
  return (
    <div className="stack">
      <CopyBox label="Signing secret" text={secret} isSecret />
      <Verifying />
      <DialogActions>
        <Button variant="primary" onClick={onDone}>
          I have stored the secret
        </Button>
      </DialogActions>
    </div>
  );
}
