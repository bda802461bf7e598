// SQL that says who may not decide about an agent's request, because its key is theirs or was while the request waited.
// A key keeps its former owners by a trigger, each with the time until when.

/** Whether an address is that of an owner of the key since then. `key` is the alias of a row of api_keys. */
export function isOwnerSince(key: string, email: string, since: string): string {
  return `(coalesce(person_of(${key}.owner_email) = person_of(${email}), false)
    or coalesce((${key}.former_owners ->> person_of(${email}))::timestamptz > ${since}, false))`;
}

/** Of a row `a` of approvals: who owns the key that asked, or did while the request waited, never decides about it. */
export function isOwnerOfItsKey(email: string): string {
  return `exists (
    select from api_keys k
    where k.workspace_id = a.workspace_id and k.id = a.key_id and ${isOwnerSince("k", email, "a.created_at")}
  )`;
}

/** The owners of the key since then, as people. */
export function ownersSince(key: string, since: string): string {
  return `array_remove(person_of(${key}.owner_email) || array(
      select former.person from jsonb_each_text(${key}.former_owners) as former (person, until)
      where former.until::timestamptz > ${since}
    ), null)`;
}
