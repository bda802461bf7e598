// A digest, key or id by its beginning, with a button that copies the whole.

import { CopyButton } from "../../../look/copy-button.tsx";
import { Visible } from "../../../look/visible-text.tsx";
import { shortened } from "./evidence-words.ts";

type ShortCodeProps = { code: string; label: string };

export function ShortCode({ code, label }: ShortCodeProps) {
  return (
    <span className="short-code">
      <code>
        <Visible text={shortened(code)} />
      </code>
      <CopyButton label={label} text={() => code} />
    </span>
  );
}
