// Three migrations were changed after some had applied them, before the rule that they are frozen was held by a test.
// A database that was made with a former text is brought to the final one by these steps. No text is ever added here:
// a change is a new migration.

/** Leads from one text of a migration to the next, by their SHA-256. */
export type Amendment = { name: string; from: string; to: string; sql: string };

const amendments: readonly Amendment[] = [
  {
    name: "0001_first_schema.sql",
    from: "621ff2369bfc40a0188bece65db0b61df6faea5bc0da04e7743e1df97502ee0e",
    to: "e6232d7c3033eb7535e223f475a2f8e3fd6cb5ceacbc6af9c2a8f5f496a9eeda",
    sql: "alter table api_keys drop column last_used_at",
  },
  {
    name: "0001_first_schema.sql",
    from: "e6232d7c3033eb7535e223f475a2f8e3fd6cb5ceacbc6af9c2a8f5f496a9eeda",
    to: "5175c85e5349b4ec230ecc43cf37c8189019e08b0b7076376ba131a457c10a2d",
    sql: `
      drop index approvals_pending;
      create index approvals_status on approvals (workspace_id, status, id)`,
  },
  {
    name: "0001_first_schema.sql",
    from: "5175c85e5349b4ec230ecc43cf37c8189019e08b0b7076376ba131a457c10a2d",
    to: "534c354bfab64d4cb35776940977312410bde47662d9d36be06ca27f50662e95",
    sql: "update plans set has_overage = false where name = 'unlimited'",
  },
  {
    name: "0002_deliveries_at_work.sql",
    from: "4df429afd5f5fa02afacd9b143b5a66f45c1634b49602bdd6d1417e9416a195e",
    to: "2289ebae2dd92a6fe6564b7ea36e5c48a1397d5425c977f3859976437fd96eec",
    sql: `
      drop index deliveries_due_to_endpoint;
      create index deliveries_due_to_endpoint on deliveries (endpoint_id, due_at, id)
        where state = 'due' and endpoint_id is not null;
      drop index deliveries_due_to_mailbox;
      create index deliveries_due_to_mailbox on deliveries (workspace_id, due_at, id)
        where state = 'due' and endpoint_id is null`,
  },
  {
    name: "0002_deliveries_at_work.sql",
    from: "2289ebae2dd92a6fe6564b7ea36e5c48a1397d5425c977f3859976437fd96eec",
    to: "8c4c76db285bd424193aac4049777eace1ab9633e00624ec4f203d5165b56d6e",
    sql: `
      drop index events_once_per_approval;
      create unique index events_once_per_approval
        on events (approval_id, kind, coalesce(reviewer_id, ''), workspace_id)
        where approval_id is not null;
      drop index deliveries_destination_key;
      create unique index deliveries_destination_key
        on deliveries (event_id, coalesce(endpoint_id, reviewer_id, recipient), workspace_id);
      drop index approvals_status;
      create index approvals_status on approvals (status, workspace_id, id);
      drop index reviewers_email_key;
      create unique index reviewers_email_key on reviewers (approval_id, lower(email), workspace_id)`,
  },
  {
    name: "0002_deliveries_at_work.sql",
    from: "8c4c76db285bd424193aac4049777eace1ab9633e00624ec4f203d5165b56d6e",
    to: "5a285e6c656d2df97ed8ed286d9fffc15fb8737a153a9977b51a1523b9dd7d6a",
    sql: "alter table deliveries add column weight smallint not null default 1 check (weight >= 1)",
  },
  {
    name: "0004_dashboard.sql",
    from: "87ad94d5feb164366694abfa47a7cde314b32bcc47bf334fcd6bec1dcd00421e",
    to: "2cc5abeb60957939c18736da9434ddc2af917733c65f0b9a0c9aa2b68cc55a51",
    // The next step makes the words again.
    sql: `
      drop index approvals_agent, approvals_approver, approvals_group;
      create index approvals_agent on approvals (coalesce(agent_name, ''), status, workspace_id, id);
      create index approvals_approver
        on approvals (coalesce(group_id, lower(approver_email)), status, workspace_id, id);
      create index deliveries_unsuccessful_of_endpoint on deliveries (endpoint_id, id)
        where state in ('failed', 'skipped') and endpoint_id is not null`,
  },
  {
    name: "0004_dashboard.sql",
    from: "2cc5abeb60957939c18736da9434ddc2af917733c65f0b9a0c9aa2b68cc55a51",
    to: "a79554c8a82703d5a35bc79f8e67675c5a55668daebf1c79837ef833f2a7c8a8",
    // Figures of a day were kept in another form; they are computed again on demand.
    sql: String.raw`
      drop index approvals_search;
      drop function search_words(text, text);
      create function search_words(workspace_id text, id text, summary text) returns tsvector
      language plpgsql immutable strict cost 500 as $$
begin
  return array_to_tsvector(string_to_array(ltrim(regexp_replace(
    ' ' || lower(summary collate "default") collate "C",
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u3003]+',
    ' ' || replace(workspace_id, '_', '') || substr(id, 5, 4),
    'g'
  )), ' '));
end;
$$;
      create index approvals_search on approvals using gin (search_words(workspace_id, id, summary));
      delete from daily_figures`,
  },
];

/** The steps from a former text of a migration to its final one; empty when it is not a former text. */
export function amendmentsFrom(name: string, checksum: string): Amendment[] {
  const next = amendments.find((each) => each.name === name && each.from === checksum);
  return next === undefined ? [] : [next, ...amendmentsFrom(name, next.to)];
}
