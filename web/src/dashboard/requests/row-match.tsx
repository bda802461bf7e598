// Where in its JSON a search has found a request. The words are the agent's, so they are quoted.

import type { RequestRow } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";

type Match = NonNullable<RequestRow["match"]>;

const fields: Record<Match["field"], string> = {
  payload: "Payload",
  edit: "Edited payload",
  metadata: "Metadata",
};

export function RowMatch({ match: { field, path, text } }: { match: Match }) {
  return (
    <span className="requests-match">
      <span className="quiet">{fields[field]}</span>{" "}
      {path !== "" && (
        <code>
          <Visible text={path} />
        </code>
      )}{" "}
      <q>
        <Visible text={text} />
      </q>
    </span>
  );
}
