// The exact request of every attempt to an endpoint: address, headers, and the body with a copy button.

import { useMemo } from "react";
import type { DeliveryDetail } from "../../../../server/src/wire/dashboard-contract.ts";
import { CopyButton } from "../../look/copy-button.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { RawJson } from "../../payload/raw-json.tsx";
import { JsonView } from "../parts/json-view.tsx";

type SentRequestProps = { request: NonNullable<DeliveryDetail["request"]> };

export function SentRequest({ request: { url, headers, body } }: SentRequestProps) {
  const isReadable = useMemo(() => isJson(body), [body]);
  return (
    <div className="sent">
      <p className="sent-line">
        <code>POST</code> <Visible text={url} />
        <CopyButton label="Copy the address" text={() => url} />
      </p>
      <dl className="sent-headers" aria-label="Headers">
        {Object.entries(headers).map(([name, value]) => (
          <div key={name}>
            <dt>
              <Visible text={name} />
            </dt>
            <dd>
              <Visible text={value} />
            </dd>
          </div>
        ))}
      </dl>
      {isReadable ? (
        <JsonView title="Body" text={body} isSubordinate />
      ) : (
        <RawJson text={body} label="Body" />
      )}
    </div>
  );
}

/** The service signs JSON. Anything else is shown as it is. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
