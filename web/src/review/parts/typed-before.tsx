// The approver's typing when somebody or something else was quicker. It isn't lost.

import { Fragment, type ReactNode, useId } from "react";
import { CopyButton } from "../../look/copy-button.tsx";
import { InOrder, Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import type { FieldDraft } from "../../payload/draft.ts";
import { keyOf } from "../../payload/folding.ts";
import { RawJson } from "../../payload/raw-json.tsx";
import { nameOf } from "../../payload/tree-context.ts";

type TypedBeforeProps = {
  note: string;
  text: string | null;
  fields: readonly FieldDraft[];
  /** Why it isn't part of what stands above; null if nothing does. */
  why: string | null;
  /** What can be done with it. */
  children?: ReactNode;
};

export function TypedBefore({ note, text, fields, why, children }: TypedBeforeProps) {
  const titleId = useId();
  if (note.trim() === "" && text === null && fields.length === 0) return null;
  return (
    <section className="typed" aria-labelledby={titleId}>
      <h2 id={titleId}>{words.outcome.typed}</h2>
      <p className="quiet">
        {why} {words.outcome.typedHint}
      </p>
      {note.trim() !== "" && (
        <>
          <h3>{words.outcome.typedNote}</h3>
          <p className="typed-note">
            <Visible text={note} isMultiLine />
          </p>
          <CopyButton label={words.copy} text={() => note} isWide />
        </>
      )}
      {fields.map(({ path, typed }) => (
        <Fragment key={keyOf(path)}>
          <h3>
            <InOrder text={nameOf(path)} />
          </h3>
          <p className="typed-note">
            <Visible text={typed} isMultiLine />
          </p>
          <CopyButton label={words.copyValue(nameOf(path))} text={() => typed} isWide />
        </Fragment>
      ))}
      {text !== null && (
        <>
          <h3>{words.outcome.typedPayload}</h3>
          <RawJson text={text} label={words.outcome.typedPayload} />
          <CopyButton label={words.copyPayload} text={() => text} isWide />
        </>
      )}
      {children}
    </section>
  );
}
