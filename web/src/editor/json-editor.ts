// A JSON text editor in a host element: CodeMirror, with our rules for exactness and invisible characters. It stands in
// a shadow root, where CodeMirror needs no <style> element, which the page's Content-Security-Policy forbids. The page
// passes `lint`, which finds mistakes.

import {
  defaultKeymap,
  history,
  historyKeymap,
  insertNewline,
  insertNewlineAndIndent,
  isolateHistory,
  redo,
  undo,
} from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import {
  bidiIsolates,
  bracketMatching,
  syntaxHighlighting,
  syntaxTree,
} from "@codemirror/language";
import { type Diagnostic, linter, lintGutter, nextDiagnostic } from "@codemirror/lint";
import {
  closeSearchPanel,
  findNext,
  findPrevious,
  openSearchPanel,
  search,
} from "@codemirror/search";
import {
  EditorState,
  type Extension,
  StateEffect,
  Transaction,
  type TransactionSpec,
} from "@codemirror/state";
import { EditorView, type KeyBinding, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { scanJson } from "../../../server/src/domain/shown/json-text.ts";
import { formatJson } from "../../../server/src/domain/shown/json-tree.ts";
import { exactText, pastedText } from "./exact-text.ts";
import { hiddenChips } from "./hidden-chips.ts";
import styles from "./json-editor.css?inline";
import { changeBetween, offsetAfterFormatting } from "./text-change.ts";

export type LintFinding = { from: number; to: number; message: string };

export type JsonEditorOptions = {
  host: HTMLElement;
  text: string;
  /** The accessible name of the field. */
  label: string;
  /** Called with the exact text after each change: typing, undo, format, setText. */
  onChange: (text: string) => void;
  lint: (text: string) => LintFinding[];
};

export type JsonEditor = {
  /** Replaces the document, in one step that can be undone. */
  setText(text: string): void;
  /** Changes only white space between tokens, in one step; does nothing while the text is not JSON. */
  format(): void;
  undo(): void;
  redo(): void;
  /** Puts the cursor there, brings it into view and takes the focus. */
  goTo(offset: number): void;
  focus(): void;
  destroy(): void;
};

const lintDelayMs = 200;

/** Parsing a text of this length takes noticeably long, so the editor waits for a pause. */
const largeTextCharacters = 256 * 1024;
const largeLintDelayMs = 600;

export function mountJsonEditor(options: JsonEditorOptions): JsonEditor {
  const root = options.host.shadowRoot ?? options.host.attachShadow({ mode: "open" });
  adoptStyles(root);
  root.replaceChildren();
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({ extensions: extensionsFor(options) }),
  });
  open(view, options);
  return {
    setText: (text) => replaceText(view, text),
    format: () => format(view),
    undo: () => void undo(view),
    redo: () => void redo(view),
    goTo: (offset) => goTo(view, offset),
    focus: () => view.focus(),
    destroy: () => {
      view.destroy();
      root.replaceChildren();
    },
  };
}

function adoptStyles(root: ShadowRoot): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  // CodeMirror puts its own sheet first, so ours wins.
  root.adoptedStyleSheets = [sheet];
}

/**
 * The text is set after the editor stands: CodeMirror misjudges the line size of its first text, and would then lay out
 * a one-line document, as machines write JSON, in full (seconds for 4 MiB).
 */
function open(view: EditorView, { text, onChange }: JsonEditorOptions): void {
  view.dispatch({
    changes: { from: 0, insert: text },
    annotations: Transaction.addToHistory.of(false),
  });
  const listener = EditorView.updateListener.of((update) => {
    if (update.docChanged) onChange(update.state.sliceDoc());
  });
  view.dispatch({ effects: StateEffect.appendConfig.of(listener) });
}

function extensionsFor(options: JsonEditorOptions): Extension[] {
  const { label } = options;
  return [
    exactText,
    EditorView.clipboardInputFilter.of(pastedText),
    EditorView.contentAttributes.of({
      "aria-label": label,
      // Nothing may insert a character that was not typed. CodeMirror promises the same, but this matters too much to
      // rely on it. The last one is for a well-known browser extension.
      autocapitalize: "off",
      autocomplete: "off",
      autocorrect: "off",
      spellcheck: "false",
      writingsuggestions: "false",
      translate: "no",
      "data-gramm": "false",
      // The direction of the text is that of JSON, in any language of the page or a string.
      dir: "ltr",
    }),
    EditorView.lineWrapping,
    lintGutter(),
    lineNumbers(),
    hiddenChips,
    json(),
    syntaxHighlighting(classHighlighter),
    bidiIsolates(),
    bracketMatching(),
    history(),
    search({ top: true, literal: true }),
    // Tab has no binding, so it leaves the field as in any other.
    keymap.of([
      { key: "Enter", run: breakLine },
      { key: "F8", run: nextDiagnostic },
      ...searchKeys,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    linter((view) => findingsOf(view, options.lint), { delay: lintDelayMs }),
  ];
}

/** The browser's own search finds only drawn text, and a long text is drawn in part. */
const searchKeys: KeyBinding[] = [
  { key: "Mod-f", run: openSearchPanel, scope: "editor search-panel" },
  { key: "F3", run: findNext, shift: findPrevious, scope: "editor search-panel" },
  { key: "Mod-g", run: findNext, shift: findPrevious, scope: "editor search-panel" },
  { key: "Escape", run: closeSearchPanel, scope: "editor search-panel" },
];

/** Indents the new line, except within a string: there it would remove spaces, which are content. */
function breakLine(view: EditorView): boolean {
  const { name } = syntaxTree(view.state).resolveInner(view.state.selection.main.from, -1);
  const isInString = name === "String" || name === "PropertyName";
  return isInString ? insertNewline(view) : insertNewlineAndIndent(view);
}

async function findingsOf(
  view: EditorView,
  lint: (text: string) => LintFinding[],
): Promise<Diagnostic[]> {
  const { doc } = view.state;
  if (doc.length > largeTextCharacters) {
    await new Promise((resolve) => setTimeout(resolve, largeLintDelayMs));
    // CodeMirror asks again for the newer text and forgets this answer.
    if (view.state.doc !== doc) return [];
  }
  return lint(view.state.sliceDoc()).map(({ from, to, message }) => {
    const start = Math.max(0, Math.min(from, doc.length));
    const end = Math.max(start, Math.min(to, doc.length));
    return { from: start, to: end, severity: "error", message };
  });
}

function replaceText(view: EditorView, text: string): void {
  const before = view.state.sliceDoc();
  if (text !== before) changeInOneStep(view, { changes: changeBetween(before, text) });
}

function format(view: EditorView): void {
  const before = view.state.sliceDoc();
  if (scanJson(before).kind === "malformed") return;
  const after = formatJson(before);
  const { main } = view.state.selection;
  const anchor = offsetAfterFormatting(before, after, main.anchor);
  const head = offsetAfterFormatting(before, after, main.head);
  if (after === before || anchor === null || head === null) return;
  changeInOneStep(view, {
    changes: changeBetween(before, after),
    selection: { anchor, head },
    scrollIntoView: true,
  });
}

/** One step of undo, separate from typing before and after. */
function changeInOneStep(view: EditorView, change: TransactionSpec): void {
  view.dispatch({ ...change, annotations: isolateHistory.of("full") });
}

function goTo(view: EditorView, offset: number): void {
  const anchor = Math.max(0, Math.min(offset, view.state.doc.length));
  view.dispatch({
    selection: { anchor },
    effects: EditorView.scrollIntoView(anchor, { y: "center" }),
  });
  view.focus();
}
