// A URL that wraps between its parts, not inside a word. Lists cut a long one after two lines; its host comes first.

import { Fragment } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import { Visible } from "../../look/visible-text.tsx";

export function UrlText({ url }: { url: string }) {
  const parts = url.split(/(?<=[/?&=])(?<!\/\/)(?!\/)/);
  return (
    <bdi className="url" dir="ltr" title={toVisibleText(url)}>
      {parts.map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          <Visible text={part} />
        </Fragment>
      ))}
    </bdi>
  );
}
