// The columns that a search looks into.

import type { Searched } from "../../domain/search/searched-texts.ts";

const jsonColumns = ["payload", "edit", "metadata"] as const;

export type SearchedRow = {
  searched_summary: string;
  searched_agent: string | null;
  searched_email: string | null;
  searched_group_key: string | null;
  searched_group_name: string | null;
  searched_decider: string | null;
  searched_payload: string | null;
  searched_edit: string | null;
  searched_metadata: string | null;
};

/** JSON up to a number of characters, or only the JSON that has no more bytes than that. */
export function searchedColumns(which: "beginning" | "small", max: number): string {
  const json = jsonColumns.map((name) =>
    which === "beginning"
      ? `left(a.${name}, ${max}) as searched_${name}`
      : `case when octet_length(a.${name}) <= ${max} then a.${name} end as searched_${name}`,
  );
  return `a.summary as searched_summary, a.agent_name as searched_agent, a.approver_email as searched_email,
    a.group_key as searched_group_key, a.group_name as searched_group_name,
    a.resolved_by_email as searched_decider, ${json.join(", ")}`;
}

/** Whether "small" leaves something out. */
export function hasLargeJson(max: number): string {
  const sizes = jsonColumns.map((name) => `octet_length(a.${name})`);
  return `greatest(${sizes.join(", ")}) > ${max}`;
}

export function toSearched(row: SearchedRow): Searched {
  return {
    summary: row.searched_summary,
    agentName: row.searched_agent,
    approverEmail: row.searched_email,
    groupKey: row.searched_group_key,
    groupName: row.searched_group_name,
    decidedBy: row.searched_decider,
    payload: row.searched_payload,
    edit: row.searched_edit,
    metadata: row.searched_metadata,
  };
}
