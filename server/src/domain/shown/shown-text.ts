// The one text that stands for everything a reviewer was shown. The page hashes what it rendered, the service hashes
// what it stored, and a decision counts only when both are the same.

export type Shown = {
  id: string;
  summary: string;
  agentName: string | null;
  reasoning: string | null;
  recentActions: readonly string[];
  payload: string | null;
};

/** An array of strings in JSON has no two readings, whatever the strings hold. */
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
