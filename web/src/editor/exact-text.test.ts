import assert from "node:assert/strict";
import { test } from "node:test";
import { EditorState } from "@codemirror/state";
import { exactText, pastedText } from "./exact-text.ts";

const oddTexts = {
  "CR LF between tokens": '{\r\n\t"a": 1,\r\n\t"b": 2\r\n}\r\n',
  "a lone CR between tokens": '{\r"a": 1\r}\r',
  "all kinds of line breaks": "\n\r\r\n\n\r\r\r\n",
  "line separators inside strings": '{"a": "x\u2028y\u2029z\u0085"}',
  "control characters, lone surrogates and U+FFFF": '{"a": "\u0000\u001b\ud800 \udc00 \uffff"}',
  "tabs and trailing spaces": '{\t"a" :\t1   \n}   ',
  "no text": "",
};

for (const [name, text] of Object.entries(oddTexts)) {
  test(`a document comes out as it went in: ${name}`, () => {
    const state = EditorState.create({ doc: text, extensions: [exactText] });
    assert.equal(state.sliceDoc(), text);
    const emptied = state.update({ changes: { from: 0, to: state.doc.length } }).state;
    assert.equal(emptied.update({ changes: { from: 0, insert: text } }).state.sliceDoc(), text);
  });
}

test("an edit changes nothing but its own place", () => {
  const state = EditorState.create({ doc: '{\r\n"a": 1,\r"b": 2}', extensions: [exactText] });
  const at = state.sliceDoc().indexOf("1");
  const edited = state.update({ changes: { from: at, to: at + 1, insert: "23" } }).state;
  assert.equal(edited.sliceDoc(), '{\r\n"a": 23,\r"b": 2}');
});

test("line breaks of a pasted text are ours, and nothing else of it changes", () => {
  assert.equal(pastedText('{\r\n"a": "\u2028"\r}\r\n'), '{\n"a": "\u2028"\r}\n');
});
