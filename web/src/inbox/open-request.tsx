// A request of the inbox: found, opened, and drawn by the parts of the review page.

import { type ReactNode, useEffect, useLayoutEffect, useState } from "react";
import type { ReviewPage } from "../../../server/src/wire/review-contract.ts";
import type { Draft } from "../payload/draft.ts";
import type { ReviewFrame } from "../review/review-frame.tsx";
import { ReviewScreen } from "../review/review-screen.tsx";
import type { ReviewAccess } from "../review/service/access.ts";
import { isFailure as isReviewFailure, open } from "../review/service/calls.ts";
import { inboxWords } from "./frame/inbox-words.ts";
import { accessInInbox, findPlace, isFailure } from "./service/inbox-calls.ts";

type OpenRequestProps = {
  requestId: string;
  /** The person's place in it; null if it is to be found. */
  id: string | null;
  way: Pick<ReviewAccess, "watch" | "onSignedOut">;
  /** What surrounds it. */
  frameOf: (id: string) => ReviewFrame;
  onFound: (id: string) => void;
};

type Opened = {
  access: ReviewAccess;
  id: string;
  page: ReviewPage;
  readAt: number;
  /** What was typed before somebody changed the payload. */
  carried: Draft | null;
};

type State = Opened | { problem: string | null; isNowhere: boolean };

const opening: State = { problem: null, isNowhere: false };

/** Drawn anew for each request. */
export function OpenRequest(props: OpenRequestProps) {
  const { requestId, way, frameOf } = props;
  const [state, setState] = useState<State>(opening);
  const openAt = async (id: string | null): Promise<State> => {
    const found = await placeOf({ ...props, id });
    if (typeof found !== "string") return found;
    props.onFound(found);
    const access = accessInInbox(found, way);
    const page = await open(access);
    if (!isReviewFailure(page)) {
      return { access, id: found, page, readAt: performance.now(), carried: null };
    }
    return { problem: page.message, isNowhere: page.code === "not_found" };
  };
  const load = async () => {
    setState(opening);
    const opened = await openAt(props.id);
    // The browser's history may name the place of whoever was signed in here before.
    const isOthers = props.id !== null && "isNowhere" in opened && opened.isNowhere;
    setState(isOthers ? await openAt(null) : opened);
  };
  useEffect(() => {
    load();
  }, [requestId]);
  useLayoutEffect(() => {
    scrollTo({ top: 0 });
  }, []);
  if (!("page" in state)) return <NotOpen {...state} start={frameOf("").start} onAgain={load} />;
  const { access, id, page, readAt, carried } = state;
  // The inbox never asks for the code of a link.
  if (page.kind !== "review") return null;
  return (
    <ReviewScreen
      // Another text of the payload is another page: nothing of it has been read yet.
      key={readAt}
      first={page.review}
      readAt={readAt}
      access={access}
      frame={frameOf(id)}
      carried={carried}
      onOpen={(anew, typed) =>
        setState({ ...state, page: anew, readAt: performance.now(), carried: typed })
      }
    />
  );
}

async function placeOf({ id, requestId, way }: OpenRequestProps): Promise<string | State> {
  if (id !== null) return id;
  const found = await findPlace(requestId);
  if (!isFailure(found)) return found.id;
  if (found.code === "signed_out") way.onSignedOut();
  return { problem: found.message, isNowhere: found.code === "not_found" };
}

type NotOpenProps = {
  problem: string | null;
  isNowhere: boolean;
  start: ReactNode;
  onAgain: () => void;
};

function NotOpen({ problem, isNowhere, start, onAgain }: NotOpenProps) {
  const { request } = inboxWords;
  return (
    <main className="page">
      <header className="masthead">{start}</header>
      {problem === null ? (
        <p className="request-loading" role="status">
          {request.loading}
        </p>
      ) : (
        <div className="notice" role="alert">
          <h1 className="heading">{isNowhere ? request.notHere : request.failed}</h1>
          <p>{isNowhere ? request.notHereWhy : problem}</p>
          {!isNowhere && (
            <button type="button" className="button" onClick={onAgain}>
              {inboxWords.tryAgain}
            </button>
          )}
        </div>
      )}
    </main>
  );
}
