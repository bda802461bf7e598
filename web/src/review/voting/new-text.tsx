// Tells a reader whose page is open that somebody changed the payload, and leads to the new text.

import type { ReviewVoting } from "../../../../server/src/wire/review-contract.ts";
import { words } from "../../look/words.ts";
import { editorOf } from "./rights.ts";
import { Theirs } from "./said-text.tsx";

type NewTextProps = {
  voting: ReviewVoting;
  hasTyped: boolean;
  isLoading: boolean;
  problem: string | null;
  onShow: () => void;
};

export function NewText({ voting, hasTyped, isLoading, problem, onShow }: NewTextProps) {
  const { newText } = words.voting;
  return (
    <section className="banner new-text" aria-label={newText.label}>
      <p>
        <Editor voting={voting} /> {voting.outdatedVote !== null && newText.outdated}{" "}
        {hasTyped && newText.kept}
      </p>
      {problem !== null && (
        <p className="field-error" role="alert">
          {problem}
        </p>
      )}
      <button
        type="button"
        className="button button-strong"
        aria-disabled={isLoading}
        onClick={() => {
          if (!isLoading) onShow();
        }}
      >
        {isLoading ? newText.loading : newText.show}
      </button>
    </section>
  );
}

function Editor({ voting }: { voting: ReviewVoting }) {
  const { newText } = words.voting;
  const editor = editorOf(voting);
  if (editor?.isYours) return newText.yours;
  return (
    <>
      {editor === null ? newText.somebody : <Theirs text={editor.email} />}
      {newText.changed}
    </>
  );
}
