// How far several people are, in a row of the list: counts, and what is the matter in words.

import type { VotingProgress } from "../../../../../server/src/wire/dashboard-voting.ts";
import { progressWords, troubleWords } from "./voting-words.ts";

export function RowProgress({ progress }: { progress: VotingProgress }) {
  const said = [progressWords(progress), ...troubleWords(progress)].filter((each) => each !== null);
  return <span className="requests-progress">{said.join(" · ")}</span>;
}
