// The id among the facts of a page, with a copy button.

import { CopyButton } from "../../look/copy-button.tsx";

export function IdFact({ id }: { id: string }) {
  return (
    <div className="id-fact">
      <dt>Id</dt>
      <dd>
        <code>{id}</code>
        <CopyButton label="Copy the id" text={() => id} />
      </dd>
    </div>
  );
}
