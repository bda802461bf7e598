// What the approver had typed when somebody or something else was quicker. It was not sent, and it is not lost.

import { CopyButton } from "./payload/copy-button.tsx";
import { RawJson } from "./payload/raw-json.tsx";
import { Visible } from "./visible-text.tsx";
import { words } from "./words.ts";

type TypedBeforeProps = { note: string; text: string | null };

export function TypedBefore({ note, text }: TypedBeforeProps) {
  if (note.trim() === "" && text === null) return null;
  return (
    <section className="typed" aria-labelledby="typed-title">
      <h2 id="typed-title">{words.outcome.typed}</h2>
      <p className="quiet">{words.outcome.typedHint}</p>
      {note.trim() !== "" && (
        <>
          <h3>{words.outcome.typedNote}</h3>
          <p className="typed-note">
            <Visible text={note} isMultiLine />
          </p>
          <CopyButton label={words.copy} text={() => note} isWide />
        </>
      )}
      {text !== null && (
        <>
          <h3>{words.outcome.typedPayload}</h3>
          <RawJson text={text} label={words.outcome.typedPayload} />
          <CopyButton label={words.copyPayload} text={() => text} isWide />
        </>
      )}
    </section>
  );
}
