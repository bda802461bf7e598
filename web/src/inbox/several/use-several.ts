// The selection, and the way of its one decision to the service and back. A lost answer is found out request by request.

import { useEffect, useRef, useState } from "react";
import { placeShown } from "../../../../server/src/domain/shown/reviewer-place.ts";
import { shownText } from "../../../../server/src/domain/shown/shown-text.ts";
import type { InboxRow } from "../../../../server/src/wire/inbox-contract.ts";
import { programFields } from "../../look/page-program.ts";
import type { ReadReview } from "../../review/read-review.ts";
import type { ReviewAccess } from "../../review/service/access.ts";
import {
  digestOf,
  isFailure as isReviewFailure,
  readStatus,
  type Verdict,
} from "../../review/service/calls.ts";
import type { ListedRow } from "../list/listing.ts";
import { accessInInbox, decideSeveral, isFailure } from "../service/inbox-calls.ts";
import { type Result, resultFrom, resultOf, unknown } from "./result.ts";
import { type ReadReviews, stillSelected } from "./selection.ts";

/** One request of the second step, as it was read. */
export type Chosen = ReadReview & { row: InboxRow };

export type SecondStep = {
  verdict: Verdict;
  chosen: readonly Chosen[];
  /** By the person's place; null until it was sent. */
  results: ReadonlyMap<string, Result> | null;
  isSending: boolean;
  problem: string | null;
};

const askAgainMs = [500, 1_000, 2_000, 4_000, 8_000, 15_000];

type SeveralOptions = {
  rows: readonly ListedRow[];
  read: ReadReviews;
  way: Pick<ReviewAccess, "watch" | "onSignedOut">;
  onDone: () => void;
};

export function useSeveral({ rows, read, way, onDone }: SeveralOptions) {
  const [ids, setIds] = useState<ReadonlySet<string> | null>(null);
  const [step, setStep] = useState<SecondStep | null>(null);
  const selected = ids === null ? [] : stillSelected(ids, rows, read);
  const show = (results: Map<string, Result>) =>
    setStep((before) => before && { ...before, results: new Map(results) });
  const begin = (verdict: Verdict) => {
    const chosen = selected.flatMap((row) => {
      const one = read.get(row.id);
      return one === undefined ? [] : [{ ...one, row }];
    });
    if (chosen.length === 0) return;
    setStep({ verdict, chosen, results: null, isSending: false, problem: null });
  };
  const send = async (note: string) => {
    if (step === null || step.isSending || step.results !== null) return;
    const { verdict, chosen } = step;
    setStep({ ...step, isSending: true, problem: null });
    const decisions = await Promise.all(
      chosen.map(async ({ row, review }) => {
        const place = placeShown(review.voting);
        return {
          id: row.id,
          digest: await digestOf(shownText(review)),
          ticket: review.ticket,
          opened: review.opened,
          ...(place === null ? {} : { place }),
        };
      }),
    );
    const answer = await decideSeveral({
      verdict,
      decisions,
      ...programFields(),
      ...(note.trim() === "" ? {} : { note }),
    });
    if (isFailure(answer) && !answer.isUntold) {
      // Refused as a whole: nothing of it counts.
      if (answer.code === "signed_out") way.onSignedOut();
      return setStep({ ...step, isSending: false, problem: answer.message });
    }
    const told = new Map(isFailure(answer) ? [] : answer.results.map((one) => [one.id, one]));
    const results = new Map(
      chosen.map(({ row, review }) => [row.id, resultOf(told.get(row.id), { verdict, review })]),
    );
    setStep({ ...step, isSending: false, results });
    onDone();
  };
  useFindOut(step, way, show);
  return {
    isOn: ids !== null,
    selected,
    step,
    turn: (isOn: boolean) => setIds(isOn ? new Set() : null),
    toggle: (id: string) => {
      const next = new Set(selected.map((row) => row.id));
      if (!next.delete(id)) next.add(id);
      setIds(next);
    },
    begin,
    send,
    close: () => {
      if (step?.results != null) setIds(null);
      setStep(null);
    },
  };
}

/** Asks about each request without a known result until all are known. */
function useFindOut(
  step: SecondStep | null,
  way: SeveralOptions["way"],
  show: (results: Map<string, Result>) => void,
): void {
  const latest = useRef(show);
  latest.current = show;
  const { chosen = [], verdict = "approve", results = null } = step ?? {};
  const open = [...(results ?? [])].filter(([, { kind }]) => kind === unknown.kind);
  const isOpen = open.length > 0;
  useEffect(() => {
    if (!isOpen || results === null) return;
    const known = new Map(results);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isStopped = false;
    const askAll = async () => {
      for (const { row, review } of chosen) {
        if (isStopped || known.get(row.id)?.kind !== unknown.kind) continue;
        const status = await readStatus(accessInInbox(row.id, way));
        if (isReviewFailure(status)) continue;
        known.set(row.id, resultFrom(status, { verdict, review }));
      }
    };
    const next = (count: number) => {
      timer = setTimeout(
        async () => {
          await askAll();
          if (isStopped) return;
          latest.current(known);
          if ([...known.values()].some(({ kind }) => kind === unknown.kind)) next(count + 1);
        },
        askAgainMs[Math.min(count, askAgainMs.length - 1)],
      );
    };
    next(0);
    return () => {
      isStopped = true;
      clearTimeout(timer);
    };
  }, [isOpen]);
}
