// The one text that stands for everything a reviewer was shown. The page hashes what it rendered, the service hashes
// what it stored, and a decision counts only if both are the same.

export type Shown = {
  id: string;
  summary: string;
  agentName: string | null;
  reasoning: string | null;
  recentActions: readonly string[];
  payload: string | null;
};

/** A JSON array of strings has only one reading, whatever the strings hold. */
export function shownText({
  id,
  summary,
  agentName,
  reasoning,
  recentActions,
  payload,
}: Shown): string {
  return JSON.stringify([1, id, summary, agentName, reasoning, recentActions, payload]);
}
