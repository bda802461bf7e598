// Shows each hidden character in the editor as a chip with its name. The chip stands for the character: the cursor
// steps over it, copying copies the character, and deleting the chip deletes what it names.

import { type EditorState, type Extension, Prec, type Range, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  Direction,
  EditorView,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from "@codemirror/view";
import { piecesInOrder } from "../../../server/src/domain/shown/text/writing-order.ts";
import { type HiddenMark, hiddenMarksOf, longRunsOf } from "./hidden-marks.ts";

class Chip extends WidgetType {
  readonly #mark: HiddenMark;

  constructor(mark: HiddenMark) {
    super();
    this.#mark = mark;
  }

  override eq(other: Chip): boolean {
    return this.#mark.label === other.#mark.label && this.#mark.kind === other.#mark.kind;
  }

  override toDOM(): HTMLElement {
    const { kind, label, isQuiet } = this.#mark;
    const chip = document.createElement("span");
    chip.className = isQuiet ? "chip chip-quiet" : "chip";
    chip.textContent = kind === "lineEnd" ? "CR" : label;
    const isCharacter = kind === "hidden" || kind === "lineEnd";
    const name = isCharacter ? `hidden character ${label}` : label;
    chip.title = name;
    chip.setAttribute("role", "img");
    chip.setAttribute("aria-label", name);
    return chip;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

/**
 * Long runs of the whole document. They are part of the state, not of the visible range, because CodeMirror needs them
 * for the layout: otherwise thousands of empty lines would follow a chip for a million spaces.
 */
const longRuns = StateField.define<DecorationSet>({
  create: (state) => Decoration.set(longRunChips(state, 0, state.doc.length)),
  update: (chips, { docChanged, changes, state }) => {
    if (!docChanged) return chips;
    let updated = chips.map(changes);
    changes.iterChangedRanges((_fromBefore, _toBefore, changedFrom, changedTo) => {
      const from = state.doc.lineAt(changedFrom).from;
      const to = state.doc.lineAt(changedTo).to;
      const filter = (start: number, end: number) => end < from || start > to;
      updated = updated.update({ filter, add: longRunChips(state, from, to) });
    });
    return updated;
  },
  provide: (field) => [
    EditorView.decorations.from(field),
    EditorView.atomicRanges.of((view) => view.state.field(field)),
  ],
});

function longRunChips({ doc }: EditorState, from: number, to: number): Range<Decoration>[] {
  const chips: Range<Decoration>[] = [];
  const cursor = doc.iterRange(from, to);
  for (let at = from; !cursor.next().done; at += cursor.value.length) {
    if (cursor.lineBreak) continue;
    for (const mark of longRunsOf(cursor.value)) {
      chips.push(chipFor(mark).range(at + mark.from, at + mark.to));
    }
  }
  return chips;
}

const shorterMarks = ViewPlugin.fromClass(
  class {
    chips: DecorationSet = Decoration.none;
    words: DecorationSet = Decoration.none;
    isolates: DecorationSet = Decoration.none;

    constructor(view: EditorView) {
      this.read(view);
    }

    update(update: ViewUpdate): void {
      if (update.docChanged || update.viewportChanged) this.read(update.view);
    }

    read(view: EditorView): void {
      const marks = view.visibleRanges.flatMap(({ from, to }) => marksBetween(view, from, to));
      const isWord = ({ kind }: HiddenMark) => kind === "word" || kind === "harmless";
      this.chips = Decoration.set(
        marks
          .filter((mark) => !isWord(mark))
          .map((mark) => chipFor(mark).range(mark.from, mark.to)),
      );
      this.words = Decoration.set(marks.filter(isWord).flatMap(wordDecorations), true);
      this.isolates = Decoration.set(
        view.visibleRanges.flatMap(({ from, to }) => isolatesBetween(view, from, to)),
      );
    }
  },
  {
    provide: (plugin) => {
      const chipsIn = (view: EditorView) => view.plugin(plugin)?.chips ?? Decoration.none;
      const wordsIn = (view: EditorView) => view.plugin(plugin)?.words ?? Decoration.none;
      const isolatesIn = (view: EditorView) => view.plugin(plugin)?.isolates ?? Decoration.none;
      return [
        // Outermost, so that inner marks stay inside.
        Prec.lowest(EditorView.decorations.of(isolatesIn)),
        EditorView.bidiIsolatedRanges.of(isolatesIn),
        EditorView.decorations.of(chipsIn),
        EditorView.decorations.of(wordsIn),
        EditorView.atomicRanges.of(chipsIn),
      ];
    },
  },
);

export const hiddenChips: Extension = [longRuns, shorterMarks];

/** The marks within a visible range. They never reach beyond it: text out of view is a placeholder there. */
function marksBetween(view: EditorView, from: number, to: number): HiddenMark[] {
  const { doc } = view.state;
  const marks: HiddenMark[] = [];
  for (let at = from; at <= to; ) {
    const line = doc.lineAt(at);
    const window = {
      from: Math.max(0, from - line.from),
      to: Math.min(line.length, to - line.from),
      isLastLine: line.number === doc.lines,
    };
    for (const mark of hiddenMarksOf(line.text, window)) {
      marks.push({
        ...mark,
        from: line.from + Math.max(mark.from, window.from),
        to: line.from + Math.min(mark.to, window.to),
      });
    }
    at = line.to + 1;
  }
  return marks;
}

const isolate = {
  rtl: Decoration.mark({
    class: "isolate",
    attributes: { dir: "rtl" },
    bidiIsolate: Direction.RTL,
  }),
  ltr: Decoration.mark({
    class: "isolate",
    attributes: { dir: "ltr" },
    bidiIsolate: Direction.LTR,
  }),
};

/** Right-to-left words don't move the text around them, here as in the other views. */
function isolatesBetween({ state: { doc } }: EditorView, from: number, to: number) {
  const found: Range<Decoration>[] = [];
  let at = from;
  for (const line of doc.sliceString(from, to).split("\n")) {
    for (const { text, direction } of piecesInOrder(line)) {
      if (direction !== null) found.push(isolate[direction].range(at, at + text.length));
      at += text.length;
    }
    at += 1;
  }
  return found;
}

function chipFor(mark: HiddenMark): Decoration {
  return Decoration.replace({ widget: new Chip(mark) });
}

const suspiciousWord = Decoration.mark({ class: "suspicious-word" });
const ordinaryWord = Decoration.mark({ class: "ordinary-word" });

/** The word stays legible, and the note about it follows. */
function wordDecorations(mark: HiddenMark): Range<Decoration>[] {
  if (mark.kind === "harmless") {
    const faint = Decoration.mark({ class: "faint", attributes: { title: mark.label } });
    return [faint.range(mark.from, mark.to)];
  }
  const chip = Decoration.widget({ widget: new Chip(mark), side: 1 });
  const word = mark.isQuiet ? ordinaryWord : suspiciousWord;
  return [word.range(mark.from, mark.to), chip.range(mark.to)];
}
