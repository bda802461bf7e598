// The page as a whole: the request, or the field for the code that opens it.

import { useState } from "react";
import type { ReviewPage } from "../../../server/src/wire/review-contract.ts";
import { Brand } from "../look/brand.tsx";
import { words } from "../look/words.ts";
import type { Draft } from "../payload/draft.ts";
import { CodeGate } from "./code-gate.tsx";
import { linkFrame } from "./review-frame.tsx";
import { ReviewScreen } from "./review-screen.tsx";
import { accessByLink } from "./service/link-access.ts";

type AppProps = {
  page: ReviewPage;
  /** The stopwatch when the data was read. */
  readAt: number;
};

export function App({ page: first, readAt: firstReadAt }: AppProps) {
  const [page, setPage] = useState(first);
  const [access, setAccess] = useState(() => accessByLink(null));
  const [readAt, setReadAt] = useState(firstReadAt);
  /** What was typed before somebody changed the payload. */
  const [carried, setCarried] = useState<Draft | null>(null);
  if (page.kind === "review") {
    return (
      <ReviewScreen
        // Another text of the payload is another page: nothing of it has been read yet.
        key={readAt}
        first={page.review}
        readAt={readAt}
        access={access}
        frame={linkFrame}
        carried={carried}
        onOpen={(opened, typed) => {
          setReadAt(performance.now());
          setCarried(typed);
          setPage(opened);
        }}
      />
    );
  }
  return (
    <main className="page page-narrow">
      <header className="masthead">
        <Brand />
      </header>
      <h1 className="sr-only">{words.title}</h1>
      <CodeGate
        workspaceName={page.workspaceName}
        triesLeft={page.triesLeft}
        onOpen={(opened, typed) => {
          setReadAt(performance.now());
          setAccess(accessByLink(typed));
          setPage(opened);
        }}
      />
    </main>
  );
}
