// The list with the open request beside it, and deciding several requests at once.

import { type ReactNode, type RefObject, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { ReadReview } from "../review/read-review.ts";
import type { ReviewFrame } from "../review/review-frame.tsx";
import { inboxWords } from "./frame/inbox-words.ts";
import { InnerLink } from "./frame/inner-link.tsx";
import type { Route } from "./frame/route.ts";
import type { Navigation } from "./frame/use-route.ts";
import { ListColumn } from "./list/list-column.tsx";
import type { ListedRow } from "./list/listing.ts";
import { PastList } from "./list/past-list.tsx";
import { unreachedWords } from "./list/unreached-words.ts";
import type { LiveList } from "./list/use-list.ts";
import { WaitingList } from "./list/waiting-list.tsx";
import { OpenRequest } from "./open-request.tsx";
import type { News } from "./service/news.ts";
import { SelectBox, SelectWhy, SeveralBar } from "./several/select-tools.tsx";
import { obstacleTo } from "./several/selection.ts";
import { SeveralDialog } from "./several/several-dialog.tsx";
import { useSeveral } from "./several/use-several.ts";

type InboxProps = {
  navigation: Navigation;
  route: Exclude<Route, { kind: "settings" }>;
  news: News;
  list: LiveList;
  column: RefObject<HTMLElement | null>;
  isSelecting: { current: boolean };
  /** What Escape does; set here. */
  onBack: { current: () => void };
  onSignedOut: () => void;
  onKeys: () => void;
};

export function Inbox(props: InboxProps) {
  const { navigation, route, news, list, column, isSelecting, onSignedOut, onKeys } = props;
  const { go, toList } = navigation;
  const { listing, told } = list;
  const open = route.kind === "request" ? route : null;
  const [openId, setOpenId] = useState<string | null>(open?.id ?? null);
  const [read, setRead] = useState<ReadonlyMap<string, ReadReview>>(new Map());
  const way = useMemo(() => ({ watch: news.watch, onSignedOut }), [news]);
  const several = useSeveral({ rows: listing.rows, read, way, onDone: news.tell });
  const shownList = route.list;
  const isOn = several.isOn && shownList === "waiting";
  isSelecting.current = isOn;
  useFocusOnReturn(openId, open !== null, column);
  props.onBack.current = () => {
    if (isOn) several.turn(false);
    else if (open !== null) toList();
  };
  const next = listing.rows.find(({ row, end }) => end === null && row.id !== openId)?.row;
  const frameOf = (id: string): ReviewFrame => ({
    start: <BackLink onBack={toList} list={shownList} />,
    afterwards: () => (
      <Afterwards>
        {next === undefined ? (
          <p className="quiet">{inboxWords.request.allDone}</p>
        ) : (
          <InnerLink
            className="button button-next"
            to={{ kind: "request", requestId: next.requestId, list: "waiting", id: next.id }}
            onGo={(to) => {
              setOpenId(next.id);
              go(to);
            }}
          >
            {inboxWords.request.next}
          </InnerLink>
        )}
      </Afterwards>
    ),
    onStatus: (status) => {
      if (status !== null) list.refresh();
    },
    onRead: (shown) => setRead((before) => withRead(before, id, shown)),
  });
  const openRequest = (to: Route) => {
    if (to.kind === "request") setOpenId(to.id);
    go(to);
  };
  const choice = { read, selected: several.selected };
  const select = (listed: ListedRow) => {
    const { row } = listed;
    const obstacle = obstacleTo(listed, choice);
    return {
      box: (
        <SelectBox
          row={row}
          obstacle={obstacle}
          isSelected={several.selected.some(({ id }) => id === row.id)}
          onToggle={() => several.toggle(row.id)}
        />
      ),
      why: <SelectWhy row={row} obstacle={obstacle} />,
    };
  };
  const isWaiting = (id: string) =>
    listing.rows.some(({ row, end }) => row.id === id && end === null);
  return (
    // A request brings its own main, and the list must not be drawn anew for it.
    <div className="inbox" data-open={open !== null} role={open === null ? "main" : undefined}>
      <ListColumn
        list={list}
        shown={shownList}
        column={column}
        isBeside={open !== null}
        tools={
          shownList === "waiting" &&
          listing.rows.length > 0 && (
            <button
              type="button"
              className="quiet-link"
              aria-pressed={isOn}
              onClick={() => several.turn(!isOn)}
            >
              {isOn ? inboxWords.select.end : inboxWords.select.begin}
            </button>
          )
        }
        onGo={go}
        onKeys={onKeys}
        foot={isOn && <SeveralBar count={several.selected.length} onChoose={several.begin} />}
      >
        {shownList === "past" ? (
          <PastList openId={open && openId} onOpen={openRequest} onSignedOut={onSignedOut} />
        ) : (
          <WaitingList
            list={list}
            openId={open && openId}
            onOpen={openRequest}
            select={isOn ? select : null}
          />
        )}
      </ListColumn>
      <div className="inbox-request">
        {open === null && <Nothing hasRows={listing.rows.length > 0} />}
        {open !== null && told === null && (
          <main className="page">
            <p className="request-loading" role="status">
              {list.isTrying ? unreachedWords() : inboxWords.request.loading}
            </p>
          </main>
        )}
        {/* Not before it is known who is here: what was typed belongs to one person. */}
        {open !== null && told !== null && (
          <OpenRequest
            key={open.id ?? open.requestId}
            requestId={open.requestId}
            id={open.id}
            way={way}
            frameOf={frameOf}
            onFound={setOpenId}
          />
        )}
      </div>
      {several.step !== null && told !== null && (
        <SeveralDialog
          step={several.step}
          reading={told.reading}
          isWaiting={isWaiting}
          onSend={several.send}
          onClose={several.close}
        />
      )}
    </div>
  );
}

function withRead(
  before: ReadonlyMap<string, ReadReview>,
  id: string,
  shown: ReadReview | null,
): ReadonlyMap<string, ReadReview> {
  if (shown === null && !before.has(id)) return before;
  const after = new Map(before);
  if (shown === null) after.delete(id);
  else after.set(id, shown);
  return after;
}

/** Back in the list, the focus is on the row of the request that was left, before a next key can be pressed. */
function useFocusOnReturn(
  openId: string | null,
  isOpen: boolean,
  column: RefObject<HTMLElement | null>,
): void {
  const left = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (isOpen) {
      left.current = openId;
      return;
    }
    const rows = column.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [];
    const row = [...rows].find(({ dataset }) => dataset.row === left.current);
    row?.querySelector("a")?.focus({ preventScroll: true });
    left.current = null;
  }, [isOpen, openId]);
}

type BackLinkProps = { onBack: () => void; list: "waiting" | "past" };

function BackLink({ onBack, list }: BackLinkProps) {
  return (
    <InnerLink to={{ kind: "list", list }} className="back-link" onGo={onBack}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d="M9.8 3.5L5.3 8l4.5 4.5" />
      </svg>
      {inboxWords.back}
    </InnerLink>
  );
}

function Afterwards({ children }: { children: ReactNode }) {
  return <div className="afterwards">{children}</div>;
}

/** Beside the list, while nothing is open. */
function Nothing({ hasRows }: { hasRows: boolean }) {
  const { choose } = inboxWords;
  return (
    <div className="nothing">
      <svg viewBox="0 0 20 20" width="40" height="40" aria-hidden="true">
        <path d="M8 3H3.5v14H8" />
        <path d="M9.5 6.5H16.5v7H9.5" />
      </svg>
      <p>{hasRows ? choose.title : choose.none}</p>
      <p className="small">{choose.keys}</p>
    </div>
  );
}
