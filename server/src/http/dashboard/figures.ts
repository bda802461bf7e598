// The figures of a workspace: the outcomes of its requests, and its use of the plan.

import {
  askedOf,
  daysOfTwoMonths,
  lastDays,
  sharesOf,
  topAgents,
} from "../../domain/approval/figures.ts";
import { stageShares } from "../../domain/approval/stage-figures.ts";
import { shownAgentsMax, shownApproversMax } from "../../domain/limits.ts";
import { refuse } from "../../domain/refusal.ts";
import { readFigures } from "../../operations/workspaces/read-figures.ts";
import { readPlanUse } from "../../storage/approvals/figures.ts";
import { readPending } from "../../storage/approvals/pending.ts";
import type { DashboardApi } from "../../wire/dashboard-contract.ts";
import type { DashboardCalls, DashboardRefusal, MemberVisit } from "./visit.ts";

export async function usage(
  { db }: DashboardCalls,
  { workspaceId }: MemberVisit,
): Promise<DashboardApi["GET /workspaces/:workspaceId/usage"]["answer"] | DashboardRefusal> {
  const use = await readPlanUse(db, workspaceId);
  if (use === null) return refuse("not_found", "There is no such workspace.");
  const { days } = await readFigures(db, workspaceId, daysOfTwoMonths);
  return {
    ...use,
    days: days.map(({ day, figures }) => ({ day, requests: askedOf(figures.total) })),
  };
}

const periods = [7, 30, 90] as const;
const defaultPeriod = 30;

export async function overview(
  { db }: DashboardCalls,
  { workspaceId, call }: MemberVisit,
): Promise<DashboardApi["GET /workspaces/:workspaceId/overview"]["answer"] | DashboardRefusal> {
  const period = readPeriod(call.query.get("days"));
  if (period === null) {
    return {
      ...refuse(
        "validation_error",
        `days: must be ${periods.join(", ").replace(/, (\d+)$/, " or $1")}`,
      ),
      field: "days",
    };
  }
  const pending = await readPending(db, workspaceId);
  const { now, days } = await readFigures(db, workspaceId, (time) => lastDays(time, period));
  const figures = days.map((each) => each.figures);
  const stages = stageShares(
    figures.map((each) => each.stages),
    shownApproversMax,
  );
  return {
    now: now.toISOString(),
    pending: { ...pending, oldestCreatedAt: pending.oldestCreatedAt?.toISOString() ?? null },
    days: period,
    total: sharesOf(figures.map(({ total }) => total)),
    perDay: days.map((each) => ({ day: each.day, ...sharesOf([each.figures.total]) })),
    perAgent: topAgents(figures, shownAgentsMax).map(({ agent, tallies }) => ({
      agentName: agent === "" ? null : agent,
      ...sharesOf(tallies),
    })),
    ...(stages === null ? {} : { stages }),
  };
}

function readPeriod(text: string | null): (typeof periods)[number] | null {
  if (text === null) return defaultPeriod;
  return periods.find((period) => String(period) === text) ?? null;
}
