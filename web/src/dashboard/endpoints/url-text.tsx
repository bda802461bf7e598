// A URL that wraps between its parts, not inside a word.

import { Fragment } from "react";
import { Visible } from "../../look/visible-text.tsx";

export function UrlText({ url }: { url: string }) {
  const parts = url.split(/(?<=[/?&=])(?<!\/\/)(?!\/)/);
  return (
    <bdi className="url" dir="ltr">
      {parts.map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          <Visible text={part} />
        </Fragment>
      ))}
    </bdi>
  );
}
