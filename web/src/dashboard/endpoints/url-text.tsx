// An address that breaks where its parts end, not in the middle of a word.

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
