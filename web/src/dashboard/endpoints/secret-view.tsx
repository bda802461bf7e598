// Shows a signing secret once, with instructions to verify a webhook.

import { CopyBox } from "../forms/copy-box.tsx";
import { DialogActions } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { verifyingCode } from "./verifying-code.ts";

type SecretViewProps = { secret: string; onDone: () => void };

export function SecretView({ secret, onDone }: SecretViewProps) {
  return (
    <div className="stack">
      <CopyBox label="Signing secret" text={secret} isSecret />
      <p>
        Verify each webhook: <code>v1</code> in the header <code>X-Service-Signature</code> is
        HMAC-SHA256 over <code>&lt;t&gt;.&lt;raw body&gt;</code>, keyed with this secret,{" "}
        <code>whsec_</code> included.
      </p>
      <details className="folded">
        <summary>Code for Node.js</summary>
        <CopyBox label="Verify a webhook" text={verifyingCode} />
      </details>
      <DialogActions>
        <Button variant="primary" onClick={onDone}>
          I have stored the secret
        </Button>
      </DialogActions>
    </div>
  );
}
