// The JSON editor on the page: loaded when editing starts, with its few commands and the first mistake in words.

import { useEffect, useRef, useState } from "react";
import type { JsonEditor } from "../../editor/json-editor.ts";
import { words } from "../words.ts";
import { type Mistake, mistakeIn } from "./draft-state.ts";

type JsonEditingProps = {
  text: string;
  original: string;
  onChange: (text: string) => void;
};

type Loading = "loading" | "failed" | "ready";

export function JsonEditing({ text, original, onChange }: JsonEditingProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<JsonEditor | null>(null);
  const [loading, setLoading] = useState<Loading>("loading");
  const [tries, setTries] = useState(1);
  const mistake = mistakeIn(text);
  useEffect(() => {
    let isGone = false;
    const start = async () => {
      const { mountJsonEditor } = await import("../../editor/json-editor.ts");
      // Mounted once into an element that React made but never looks into.
      if (isGone || host.current === null) return;
      editor.current = mountJsonEditor({
        host: host.current,
        text,
        label: words.editor.label,
        onChange,
        lint: (draft) => marksOf(draft, mistakeIn(draft)),
      });
      setLoading("ready");
      editor.current.focus();
    };
    start().catch(() => {
      if (!isGone) setLoading("failed");
    });
    return () => {
      isGone = true;
      editor.current?.destroy();
      editor.current = null;
    };
  }, [tries]);
  const retry = () => {
    setLoading("loading");
    setTries(tries + 1);
  };
  return (
    <div className="editing">
      <div className="editing-tools">
        <button type="button" className="button" onClick={() => editor.current?.undo()}>
          {words.editor.undo}
        </button>
        <button type="button" className="button" onClick={() => editor.current?.redo()}>
          {words.editor.redo}
        </button>
        <button type="button" className="button" onClick={() => editor.current?.format()}>
          {words.editor.format}
        </button>
        <button type="button" className="button" onClick={() => editor.current?.setText(original)}>
          {words.editor.reset}
        </button>
      </div>
      <div className="editor" key={tries} ref={host} />
      {loading === "loading" && <p className="quiet">{words.editor.loading}</p>}
      {loading === "failed" && (
        <p className="field-error" role="alert">
          {words.editor.failed}{" "}
          <button type="button" className="link-button" onClick={retry}>
            {words.editor.retry}
          </button>
        </p>
      )}
      <div role="status" className="editing-mistake">
        {mistake !== null && (
          <p className="field-error">
            <strong>{mistake.message}</strong> {words.editor.brokenHint}{" "}
            <button
              type="button"
              className="link-button"
              onClick={() => editor.current?.goTo(mistake.at)}
            >
              {words.editor.goTo}
            </button>
          </p>
        )}
      </div>
      <p className="quiet small">{words.editor.hint}</p>
    </div>
  );
}

function marksOf(draft: string, mistake: Mistake | null) {
  if (mistake === null) return [];
  const from = Math.min(mistake.at, Math.max(0, draft.length - 1));
  return [{ from, to: Math.min(from + 1, draft.length), message: mistake.message }];
}
