// The column of the list: what it is, how many new requests wait to be let in, and the rows.

import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import { Brand } from "../../look/brand.tsx";
import { inboxWords } from "../frame/inbox-words.ts";
import { InnerLink } from "../frame/inner-link.tsx";
import type { ListName, Route } from "../frame/route.ts";
import { countWaiting } from "./listing.ts";
import { unreachedWords } from "./unreached-words.ts";
import type { LiveList } from "./use-list.ts";

type ListColumnProps = {
  list: LiveList;
  shown: ListName;
  column: RefObject<HTMLElement | null>;
  /** A request is open beside it, and has the page's first heading. */
  isBeside: boolean;
  /** The button that begins or ends selecting. */
  tools: ReactNode;
  onGo: (route: Route) => void;
  onKeys: () => void;
  foot: ReactNode;
  children: ReactNode;
};

export function ListColumn(props: ListColumnProps) {
  const { list, shown, column, isBeside, tools, onGo, onKeys, foot, children } = props;
  const Heading = isBeside ? "h2" : "h1";
  const waiting = countWaiting(list.listing);
  const tabs: [ListName, ReactNode][] = [
    [
      "waiting",
      <>
        {inboxWords.waiting}
        {waiting > 0 && <span className="list-count">{waiting}</span>}
      </>,
    ],
    ["past", inboxWords.past],
  ];
  return (
    <nav className="list-column" aria-label={inboxWords.requests} ref={column}>
      <header className="list-head">
        <div className="list-top">
          <Brand />
          <Arrivals list={list} column={column} />
          <div className="list-links">
            <button type="button" className="quiet-link list-keys" onClick={onKeys}>
              {inboxWords.keys}
            </button>
            <InnerLink to={{ kind: "settings" }} className="quiet-link" onGo={onGo}>
              {inboxWords.settings}
            </InnerLink>
          </div>
        </div>
        <Heading className="sr-only">{inboxWords.title}</Heading>
        <div className="list-tabs">
          <ul aria-label={inboxWords.lists}>
            {tabs.map(([name, label]) => (
              <li key={name}>
                <InnerLink
                  to={{ kind: "list", list: name }}
                  className="list-tab"
                  isCurrent={name === shown}
                  onGo={onGo}
                >
                  {label}
                </InnerLink>
              </li>
            ))}
          </ul>
          {tools}
        </div>
        <p className="list-trying" role="status">
          {list.isTrying && list.told !== null && unreachedWords()}
        </p>
      </header>
      {children}
      {foot}
    </nav>
  );
}

/** In room that is always kept free, so that its coming and going moves no row and covers none. */
function Arrivals({ list, column }: Pick<ListColumnProps, "list" | "column">) {
  const held = list.listing.held.length;
  const isLettingIn = useRef(false);
  useEffect(() => {
    if (held > 0 || !isLettingIn.current) return;
    isLettingIn.current = false;
    // The button is gone; the focus moves to the first that came in.
    column.current?.querySelector<HTMLElement>(".row-new a")?.focus();
  }, [held]);
  return (
    <div className="list-arrivals" role="status">
      {held > 0 && (
        <button
          type="button"
          className="button button-strong button-arrivals"
          onClick={() => {
            isLettingIn.current = true;
            list.letIn();
          }}
        >
          {inboxWords.newRequests(held)}
        </button>
      )}
    </div>
  );
}
