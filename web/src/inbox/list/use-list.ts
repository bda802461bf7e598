// What waits for the reader, kept current while the page is open.

import { useEffect, useRef, useState } from "react";
import type { InboxList } from "../../../../server/src/wire/inbox-contract.ts";
import type { ClockReading } from "../../look/time/clock.ts";
import { isFailure, readList, readPast } from "../service/inbox-calls.ts";
import type { News } from "../service/news.ts";
import {
  emptyListing,
  isUntold,
  type Listing,
  letIn,
  mergeList,
  visitAnew,
  withOutcomes,
} from "./listing.ts";

export type LiveList = {
  listing: Listing;
  /** Null until the first list has come. */
  told: { email: string; isMore: boolean; reading: ClockReading } | null;
  /** The last question had no answer. */
  isTrying: boolean;
  refresh: () => void;
  letIn: () => void;
  /** The list is out of sight from now on. */
  endVisit: () => void;
};

type ListOptions = {
  news: News;
  /** Whether nothing may move in the list just now. */
  isHeld: () => boolean;
  onSignedIn: () => void;
  onSignedOut: (isFirst: boolean) => void;
  /** The service gave no answer. */
  onUnreached: () => void;
};

export function useList(options: ListOptions): LiveList {
  const { news } = options;
  const [listing, setListing] = useState<Listing>(emptyListing);
  const [told, setTold] = useState<LiveList["told"]>(null);
  const [isTrying, setTrying] = useState(false);
  const latest = useRef({ ...options, listing, isFirst: true, email: null as string | null });
  latest.current = { ...latest.current, ...options, listing };
  const show = (change: (before: Listing) => Listing) => {
    latest.current.listing = change(latest.current.listing);
    setListing(latest.current.listing);
  };
  const take = async (list: InboxList) => {
    forgetOthers(list.email);
    if (latest.current.email !== null && latest.current.email !== list.email) {
      // Somebody else has signed in meanwhile: nothing on this page is theirs.
      return location.reload();
    }
    latest.current.email = list.email;
    setTold({
      email: list.email,
      isMore: list.isMore,
      reading: { now: list.now, stopwatchMs: performance.now() },
    });
    latest.current.isFirst = false;
    latest.current.onSignedIn();
    show((before) => mergeList(before, list, latest.current.isHeld()));
    if (!isUntold(latest.current.listing)) return;
    const past = await readPast(null);
    if (!isFailure(past)) show((before) => withOutcomes(before, past.past));
  };
  const read = async () => {
    const list = await readList();
    setTrying(isFailure(list) && list.code !== "signed_out");
    if (!isFailure(list)) await take(list);
    else if (list.code === "signed_out") latest.current.onSignedOut(latest.current.isFirst);
    else latest.current.onUnreached();
  };
  const refresh = useOneAtATime(read);
  useEffect(() => {
    refresh();
    const stop = news.watchUnseen(refresh);
    const onHidden = () => {
      if (document.visibilityState === "hidden") show(visitAnew);
    };
    document.addEventListener("visibilitychange", onHidden);
    return () => {
      stop();
      document.removeEventListener("visibilitychange", onHidden);
    };
  }, []);
  return {
    listing,
    told,
    isTrying,
    refresh,
    letIn: () => show(letIn),
    endVisit: () => show(visitAnew),
  };
}

const ownerKey = "countersign.inbox";

/** What was typed in this tab stays with the person who typed it. */
function forgetOthers(email: string): void {
  try {
    const owner = sessionStorage.getItem(ownerKey);
    if (owner !== null && owner !== email) sessionStorage.clear();
    sessionStorage.setItem(ownerKey, email);
  } catch {
    // Where nothing can be stored, nothing is left of anybody.
  }
}

/** One that is asked for while another is on its way follows it: the one on its way may be too old. */
function useOneAtATime(read: () => Promise<void>): () => void {
  const state = useRef<"idle" | "busy" | "again">("idle");
  const latest = useRef(read);
  latest.current = read;
  const [run] = useState(() => {
    const begin = async (): Promise<void> => {
      if (state.current !== "idle") {
        state.current = "again";
        return;
      }
      state.current = "busy";
      await latest.current();
      const isAgain = (state.current as string) === "again";
      state.current = "idle";
      if (isAgain) await begin();
    };
    return begin;
  });
  return run;
}
