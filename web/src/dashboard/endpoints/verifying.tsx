// How a receiver verifies a webhook or a callback with its secret.

import { CopyBox } from "../forms/copy-box.tsx";
import { verifyingCode } from "./verifying-code.ts";

export function Verifying() {
  return (
    <>
      <p>
        Verify each webhook: <code>v1</code> in the header <code>X-Service-Signature</code> is
        HMAC-SHA256 over <code>&lt;t&gt;.&lt;raw body&gt;</code>, keyed with this secret,{" "}
        <code>whsec_</code> included.
      </p>
      <details className="folded">
        <summary>Code for Node.js</summary>
        <CopyBox label="Verify a webhook" text={verifyingCode} />
      </details>
    </>
  );
}
