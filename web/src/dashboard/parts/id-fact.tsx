// The id of what a page is about, among its facts, with a button that copies it.

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
