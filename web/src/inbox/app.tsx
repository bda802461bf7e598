// The inbox as a whole: the list and the open request side by side, or one after the other on a small screen.

import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { inboxWords } from "./frame/inbox-words.ts";
import { useRoute } from "./frame/use-route.ts";
import { Inbox } from "./inbox.tsx";
import { KeysDialog } from "./keys/keys-dialog.tsx";
import { useKeys } from "./keys/use-keys.ts";
import { countWaiting } from "./list/listing.ts";
import { isPointedAt } from "./list/pointed-at.ts";
import { useList } from "./list/use-list.ts";
import { keepPushOn } from "./push/this-browser.ts";
import { signInAddress } from "./service/base-path.ts";
import { inboxApi } from "./service/inbox-calls.ts";
import { newsFrom } from "./service/news.ts";
import { SettingsPage } from "./settings/settings-page.tsx";

export function App() {
  const navigation = useRoute();
  const { route, toList } = navigation;
  const [news] = useState(() => newsFrom(`${inboxApi}/events`));
  const [isSignedOut, setSignedOut] = useState(false);
  const [isHelping, setHelping] = useState(false);
  const column = useRef<HTMLElement>(null);
  /** Selecting is on: then nothing in the list moves. */
  const isSelecting = useRef(false);
  const list = useList({
    news,
    isHeld: () => isSelecting.current || isPointedAt(column.current),
    onSignedIn: () => {
      news.start();
      setSignedOut(false);
    },
    onSignedOut: (isFirst) => {
      // Somebody who has just come has typed nothing yet.
      if (isFirst) location.replace(signInAddress());
      else setSignedOut(true);
    },
    // Otherwise nobody would ask again on a page that was opened without a network.
    onUnreached: news.start,
  });
  useEffect(() => news.stop, []);
  const email = list.told?.email;
  useEffect(() => {
    if (email !== undefined) keepPushOn(email);
  }, [email]);
  const onBack = useRef(() => {});
  const [areKeysUsed, useTheKeys] = useKeys({
    column,
    onHelp: () => setHelping(true),
    onBack: () => onBack.current(),
  });
  const waiting = countWaiting(list.listing);
  useEffect(() => {
    document.title =
      route.kind === "settings"
        ? inboxWords.settingsTitle
        : inboxWords.pageTitle(waiting, list.told?.isMore ?? false);
  }, [route.kind, waiting, list.told?.isMore]);
  useListPlace(route.kind === "list", list.endVisit);
  onBack.current = toList;
  const lost = isSignedOut && (
    <div className="signed-out" role="alert">
      <p>{inboxWords.signedOut}</p>
      <a className="button button-primary" href={signInAddress()}>
        {inboxWords.signIn}
      </a>
    </div>
  );
  const signedOut = () => setSignedOut(true);
  return (
    <>
      {lost}
      {route.kind === "settings" ? (
        <SettingsPage onBack={toList} onSignedOut={signedOut} />
      ) : (
        <Inbox
          navigation={navigation}
          route={route}
          news={news}
          list={list}
          column={column}
          isSelecting={isSelecting}
          onBack={onBack}
          onSignedOut={signedOut}
          onKeys={() => setHelping(true)}
        />
      )}
      {isHelping && (
        <KeysDialog isUsed={areKeysUsed} onUse={useTheKeys} onClose={() => setHelping(false)} />
      )}
    </>
  );
}

/** On a small screen the list gives way to a request. Back, it is where it was. */
function useListPlace(isListShown: boolean, onLeft: () => void): void {
  const place = useRef(0);
  const wasShown = useRef(isListShown);
  useEffect(() => {
    if (!isListShown) return;
    const keep = () => {
      place.current = scrollY;
    };
    addEventListener("scroll", keep, { passive: true });
    return () => removeEventListener("scroll", keep);
  }, [isListShown]);
  useLayoutEffect(() => {
    if (isListShown && !wasShown.current) scrollTo({ top: place.current });
    if (!isListShown && wasShown.current && !isBeside()) onLeft();
    wasShown.current = isListShown;
  }, [isListShown]);
}

/** Whether list and request stand side by side. The style sheet has the same width. */
export function isBeside(): boolean {
  return matchMedia("(min-width: 62.5em)").matches;
}
