// Read-only JSON: the review page's readable view, and the exact text one press away.

import { useId, useMemo, useState } from "react";
import type { JsonChange } from "../../../../server/src/domain/shown/json-diff.ts";
import { type JsonPath, rootOf, textOf } from "../../../../server/src/domain/shown/json-tree.ts";
import { CopyButton } from "../../look/copy-button.tsx";
import { words } from "../../look/words.ts";
import { type DraftState, noChanges } from "../../payload/draft-state.ts";
import { useOpening } from "../../payload/opening.ts";
import { OpeningFoot, OpeningProgress } from "../../payload/opening-foot.tsx";
import { RawJson } from "../../payload/raw-json.tsx";
import { rowsAtOnce, type Tree, TreeContext } from "../../payload/tree-context.ts";
import { ValueRow } from "../../payload/value-row.tsx";
import { WholeOnPaper } from "../../payload/whole-on-paper.tsx";

type JsonViewProps = {
  title: string;
  text: string;
  /** The changes of an edit, marked in place. */
  changes?: readonly JsonChange[];
  isSubordinate?: boolean;
};

export function JsonView({
  title,
  text,
  changes = noChanges,
  isSubordinate = false,
}: JsonViewProps) {
  const [isRaw, setRaw] = useState(false);
  const headingId = useId();
  const Heading = isSubordinate ? "h3" : "h2";
  // Several bodies can be open at once, and a landmark's name must be unique.
  const Frame = isSubordinate ? "div" : "section";
  return (
    <Frame className="payload" {...(isSubordinate ? {} : { "aria-labelledby": headingId })}>
      <div className="payload-head">
        <Heading id={headingId}>{title}</Heading>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would be read as a form */}
        <div className="views" role="group" aria-label={`View of ${title}`}>
          <button type="button" aria-pressed={!isRaw} onClick={() => setRaw(false)}>
            {words.readable}
          </button>
          <button type="button" aria-pressed={isRaw} onClick={() => setRaw(true)}>
            {words.raw}
          </button>
        </div>
        <CopyButton label={`Copy ${title} as JSON`} text={() => text} isWide />
      </div>
      {isRaw ? <RawJson text={text} label={title} /> : <Readable text={text} changes={changes} />}
    </Frame>
  );
}

const nothing = () => {};
const rootPath: JsonPath = [];
const unchanged: DraftState = { kind: "unchanged" };
const noFields: Tree["fields"] = new Map();

function Readable({ text, changes }: { text: string; changes: readonly JsonChange[] }) {
  const opening = useOpening({ text, original: text, state: unchanged });
  const tree = useMemo<Tree>(
    () => ({
      ...opening.rows,
      ...rowsAtOnce(),
      isEditable: false,
      onReplace: nothing,
      onRestore: nothing,
      restoreLabel: words.restoreValue,
      fields: noFields,
      onField: nothing,
      onFieldDone: nothing,
    }),
    [opening.rows],
  );
  return (
    <>
      <OpeningProgress opening={opening} />
      <TreeContext.Provider value={tree}>
        <ul className="rows rows-root" translate="no">
          <ValueRow path={rootPath} text={textOf(text, rootOf(text))} value={0} changes={changes} />
        </ul>
        <WholeOnPaper text={text} isInstead={changes.length === 0} />
      </TreeContext.Provider>
      <OpeningFoot opening={opening} />
    </>
  );
}
