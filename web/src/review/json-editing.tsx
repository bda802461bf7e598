// The JSON editor on the page: loaded when editing starts, with its few commands and the first mistake in words.

import { useEffect, useRef, useState } from "react";
import type { JsonEditor } from "../editor/json-editor.ts";
import { words } from "../look/words.ts";
import { type Mistake, mistakeIn } from "../payload/draft-state.ts";

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
  const typed = useSettled(onChange);
  useEffect(() => {
    let isGone = false;
    const start = async () => {
      const { mountJsonEditor } = await import("../editor/json-editor.ts");
      // Mounted once into an element that React made but never looks into.
      if (isGone || host.current === null) return;
      editor.current = mountJsonEditor({
        host: host.current,
        text,
        label: words.editor.label,
        onChange: typed.set,
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
      typed.flush();
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

/** A larger document is parsed when typing pauses, so that typing stays light. */
const largeCharacters = 50_000;
const pauseMs = 250;

/** Passes a text on at once, a large one after a pause, and always before the page closes. */
function useSettled(onChange: (text: string) => void) {
  const latest = useRef(onChange);
  latest.current = onChange;
  const [settled] = useState(() => {
    let waiting: { text: string; timer: ReturnType<typeof setTimeout> } | null = null;
    const flush = () => {
      if (waiting === null) return;
      const { text, timer } = waiting;
      waiting = null;
      clearTimeout(timer);
      latest.current(text);
    };
    const set = (text: string) => {
      if (waiting !== null) clearTimeout(waiting.timer);
      waiting = { text, timer: setTimeout(flush, text.length > largeCharacters ? pauseMs : 0) };
      if (text.length <= largeCharacters) flush();
    };
    return { set, flush };
  });
  useEffect(() => {
    addEventListener("pagehide", settled.flush);
    return () => removeEventListener("pagehide", settled.flush);
  }, []);
  return settled;
}

function marksOf(draft: string, mistake: Mistake | null) {
  if (mistake === null) return [];
  const from = Math.min(mistake.at, Math.max(0, draft.length - 1));
  return [{ from, to: Math.min(from + 1, draft.length), message: mistake.message }];
}
