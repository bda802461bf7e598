// Reads a workspace's figures by day. This may write: it keeps how far a day was counted, and the next read continues
// there. So each day is counted once, and a past day without pending approvals is never counted again.

import { type Database, inOneStatement } from "../../database/database.ts";
import {
  addFigures,
  askedOf,
  type CountedDay,
  countFigures,
  type Figures,
  noFigures,
} from "../../domain/approval/figures.ts";
import { figureRowsMin } from "../../domain/limits.ts";
import * as figures from "../../storage/approvals/figures.ts";
import * as stageFigures from "../../storage/votings/stage-figures.ts";

export type FiguresOfDays = { now: Date; days: { day: string; figures: Figures }[] };

/** `chooseDays` picks the days by the database's time, without gaps and oldest first. */
export async function readFigures(
  db: Database,
  workspaceId: string,
  chooseDays: (now: Date) => string[],
): Promise<FiguresOfDays> {
  const { now, firstId } = await figures.readStart(db, workspaceId);
  const days = chooseDays(now);
  const kept = await figures.listKept(db, workspaceId, days[0] ?? "infinity");
  const keptByDay = new Map(kept.map((each) => [each.day, each]));
  const read: FiguresOfDays["days"] = [];
  for (const day of days) {
    const counted = keptByDay.get(day);
    const isBeforeAll = firstId === null || figures.idsOfDay(day).untilId <= firstId;
    const its = isBeforeAll
      ? (counted?.figures ?? noFigures)
      : await readDay(db, { workspaceId, day, now, counted });
    read.push({ day, figures: its });
  }
  return { now, days: read };
}

type DayLook = { workspaceId: string; day: string; now: Date; counted: CountedDay | undefined };

async function readDay(
  db: Database,
  { workspaceId, day, now, counted }: DayLook,
): Promise<Figures> {
  if (counted !== undefined && isComplete(counted)) return counted.figures;
  const { further, open } = await countOn(db, {
    workspaceId,
    now,
    counted: counted ?? startOf(day),
  });
  if (isWorthKeeping(counted, further)) {
    await figures.keep(inOneStatement(db), workspaceId, further);
  }
  return addFigures(further.figures, open);
}

function startOf(day: string): CountedDay {
  return { day, untilId: figures.idsOfDay(day).fromId, openIds: [], figures: noFigures };
}

function isOver({ day, untilId }: CountedDay): boolean {
  return untilId === figures.idsOfDay(day).untilId;
}

function isComplete(counted: CountedDay): boolean {
  return isOver(counted) && counted.openIds.length === 0;
}

/** Today is written now and then; a past day when it is first counted, and when it is complete. */
function isWorthKeeping(before: CountedDay | undefined, after: CountedDay): boolean {
  if (isComplete(after)) return true;
  if (isOver(after) && (before === undefined || !isOver(before))) return true;
  const rowsBefore = before === undefined ? 0 : askedOf(before.figures.total);
  return askedOf(after.figures.total) - rowsBefore >= figureRowsMin;
}

/** Counts approvals that became final since, and separately those still open. */
async function countOn(
  db: Database,
  { workspaceId, now, counted }: { workspaceId: string; now: Date; counted: CountedDay },
): Promise<{ further: CountedDay; open: Figures }> {
  const { day } = counted;
  // Never backwards, even if the database's clock went back: nothing may be counted twice.
  const settledId = latest(counted.untilId, figures.settledId(day, now));
  const { final, open, untilId, openIds } = await figures.recount(db, workspaceId, {
    day,
    fromId: counted.untilId,
    earlierIds: counted.openIds,
    settledId,
  });
  const stages = await stageFigures.recount(db, workspaceId, {
    ...{ fromId: counted.untilId, beforeId: figures.idsOfDay(day).untilId },
    ...{ earlierIds: counted.openIds, untilId, openIds },
  });
  const further = addFigures(counted.figures, countFigures(final, stages.final));
  return {
    further: { day, untilId, openIds, figures: further },
    open: countFigures(open, stages.open),
  };
}

function latest(left: string, right: string): string {
  return left > right ? left : right;
}
