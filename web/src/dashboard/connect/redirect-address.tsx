// The whole address that the answer to an app goes to. The host decides who gets it, so it stands out; the rest is a
// stranger's words, too.

import { Visible } from "../../look/visible-text.tsx";
import { addressParts } from "./address-parts.ts";
import "./redirect-address.css";

export function RedirectAddress({ uri }: { uri: string }) {
  const { scheme, host, rest } = addressParts(uri);
  return (
    <bdi className="redirect-address" dir="ltr">
      {scheme}
      <strong>
        <Visible text={host} isValue />
      </strong>
      {rest !== "" && <Visible text={rest} isValue />}
    </bdi>
  );
}
