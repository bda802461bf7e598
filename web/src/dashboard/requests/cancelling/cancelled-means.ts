// What it means that requests are cancelled, in the words of every dialog that does it to many.

export function cancelledMeans(count: number): string {
  return count === 1
    ? "Nobody can decide it any more. The agent is told that it was cancelled. This can’t be undone."
    : "Nobody can decide them any more. Each agent is told that its request was cancelled. This can’t be undone.";
}
