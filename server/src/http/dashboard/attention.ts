// What needs attention in a workspace. Every member may see each page that it leads to.

import { attentionCountMax, attentionNamedMax } from "../../domain/limits.ts";
import { byUrgency, quotaNear, troubleOf } from "../../domain/workspace/attention.ts";
import * as slackConnections from "../../storage/channels/slack-connections.ts";
import { readAttention, type WorkspaceAttention } from "../../storage/deliveries/attention.ts";
import type {
  Attention,
  AttentionCount,
  AttentionEndpoint,
} from "../../wire/dashboard-attention.ts";
import type { DashboardCalls, MemberVisit } from "./visit.ts";

export async function show(
  { db }: DashboardCalls,
  { workspaceId }: MemberVisit,
): Promise<Attention> {
  const [found, slack] = await Promise.all([
    readAttention(db, workspaceId),
    slackConnections.find(db, workspaceId),
  ]);
  const { failedMails, now } = found;
  return {
    now: now.toISOString(),
    endpoints: toEndpoints(found),
    expiring: toExpiring(found),
    failedMails: {
      ...toCount(failedMails.length),
      named: failedMails
        .slice(0, attentionNamedMax)
        .map((mail) => ({ ...mail, failedAt: mail.failedAt.toISOString() })),
    },
    ...toFailedCallbacks(found),
    ...(slack === null || slack.brokenAt === null
      ? {}
      : { brokenSlack: { teamName: slack.teamName, at: slack.brokenAt.toISOString() } }),
    quota: toQuota(found),
  };
}

function toEndpoints({ endpoints }: WorkspaceAttention): Attention["endpoints"] {
  const troubled = endpoints.flatMap((endpoint) => {
    const trouble = troubleOf(endpoint);
    return trouble === null ? [] : [{ endpoint, ...trouble }];
  });
  const named = troubled
    .toSorted(byUrgency)
    .slice(0, attentionNamedMax)
    .map(({ endpoint, trouble, since }): AttentionEndpoint => {
      const { id, name, url, missed, waiting } = endpoint;
      const known = name === null ? { id, url } : { id, name, url };
      const counts = { missed: toCount(missed), waiting: toCount(waiting) };
      return { ...known, trouble, since: since.toISOString(), ...counts };
    });
  return { named, count: troubled.length };
}

function toExpiring({ expiring }: WorkspaceAttention): Attention["expiring"] {
  const { count, isMore, firstId, firstAt } = expiring;
  if (firstId === null || firstAt === null) return null;
  return { count, isMore, first: { requestId: firstId, expiresAt: firstAt.toISOString() } };
}

function toFailedCallbacks({
  failedCallbacks,
}: WorkspaceAttention): Pick<Attention, "failedCallbacks"> {
  if (failedCallbacks.length === 0) return {};
  const named = failedCallbacks
    .slice(0, attentionNamedMax)
    .map((each) => ({ ...each, failedAt: each.failedAt.toISOString() }));
  const other = failedCallbacks[attentionNamedMax];
  const count = failedCallbacks.reduce((sum, each) => sum + each.count, 0);
  return {
    failedCallbacks: {
      ...toCount(count),
      named,
      ...(other === undefined ? {} : { otherDeliveryId: other.deliveryId }),
    },
  };
}

function toQuota({ planUse }: WorkspaceAttention): Attention["quota"] {
  return planUse === null ? null : quotaNear(planUse);
}

/** Found ones are counted up to one more than are told. */
function toCount(found: number): AttentionCount {
  return { count: Math.min(found, attentionCountMax), isMore: found > attentionCountMax };
}
