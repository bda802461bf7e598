// The page as a whole: the request, or the field for the code that opens it.

import { useState } from "react";
import type { ReviewPage } from "../../../server/src/wire/review-contract.ts";
import { Brand } from "../look/brand.tsx";
import { words } from "../look/words.ts";
import { CodeGate } from "./code-gate.tsx";
import { ReviewScreen } from "./review-screen.tsx";

type AppProps = {
  page: ReviewPage;
  /** The stopwatch when the data was read. */
  readAt: number;
};

export function App({ page: first, readAt: firstReadAt }: AppProps) {
  const [page, setPage] = useState(first);
  const [code, setCode] = useState<string | null>(null);
  const [readAt, setReadAt] = useState(firstReadAt);
  if (page.kind === "review") {
    return <ReviewScreen first={page.review} readAt={readAt} code={code} />;
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
          setCode(typed);
          setPage(opened);
        }}
      />
    </main>
  );
}
