// What must be known of a caller before people are asked with care: the workspace's rules, and who owns the key.

import type { Queryable } from "../../database/database.ts";
import type { ApproverRule } from "../../domain/workspace/approver-limit.ts";

export type VotingCaller = {
  workspaceId: string;
  plan: string;
  planHasGroups: boolean;
  keyOwner: string | null;
  approvers: ApproverRule;
  /** The expiry of requests that name none. */
  expiryMinutes: number;
};

/** Null when the key is unknown or revoked. */
export async function find(db: Queryable, keyDigest: Buffer): Promise<VotingCaller | null> {
  type Row = {
    workspace_id: string;
    plan: string;
    has_groups: boolean;
    owner_email: string | null;
    approver_limit: ApproverRule["limit"];
    approver_domains: string[];
    expiry_minutes: number;
  };
  const { rows } = await db.query<Row>({
    name: "votingCallers.find",
    text: `
      select w.id as workspace_id, w.plan, p.has_groups, k.owner_email, w.approver_limit, w.approver_domains,
        w.expiry_minutes
      from api_keys k
      join workspaces w on w.id = k.workspace_id
      join plans p on p.name = w.plan
      where k.digest = $1 and k.revoked_at is null`,
    values: [keyDigest],
  });
  return (
    rows.map((row) => ({
      workspaceId: row.workspace_id,
      plan: row.plan,
      planHasGroups: row.has_groups,
      keyOwner: row.owner_email,
      approvers: { limit: row.approver_limit, domains: row.approver_domains },
      expiryMinutes: row.expiry_minutes,
    }))[0] ?? null
  );
}
