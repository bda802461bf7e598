import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeAt } from "../../../server/src/domain/shown/json-tree.ts";
import { tokenOf, typedOf, withRestored, withValue } from "./in-place.ts";

const original =
  '{ "id":9007199254740993,\t"x":1.0, "name":"\\u0061nna",\r\n"ok":true,"list":[1E400] }';

test("replacing one value changes nothing else by a byte", () => {
  const edited = withValue({ text: original, original }, ["x"], "2.50");
  assert.equal(edited, original.replace("1.0", "2.50"));
  assert.equal(
    withValue({ text: edited, original }, ["list", 0], "-0"),
    original.replace("1.0", "2.50").replace("1E400", "-0"),
  );
});

test("a value typed back to what the agent sent gets the agent's own spelling again", () => {
  const edited = withValue({ text: original, original }, ["name"], '"bob"');
  assert.notEqual(edited, original);
  assert.equal(withValue({ text: edited, original }, ["name"], '"anna"'), original);
  assert.equal(withRestored({ text: edited, original }, ["name"]), original);
});

test("keeping a text as it is keeps its bytes", () => {
  assert.equal(withValue({ text: original, original }, ["name"], '"anna"'), original);
});

test("a number stays a number, digit by digit", () => {
  for (const typed of ["9007199254740995", "1.0", "-0", "1e+5", " 12 "]) {
    assert.equal(tokenOf("number", typed), typed.trim());
  }
  for (const typed of [
    "",
    "12,5",
    "1.",
    ".5",
    "01",
    "0x1f",
    "NaN",
    "Infinity",
    '"1"',
    "1 2",
    "null",
  ]) {
    assert.equal(tokenOf("number", typed), null, typed);
  }
});

test("a text stays a text, whatever it looks like", () => {
  for (const typed of ["", "null", "12", '"quoted"', "a\nb", "\\", "</script>"]) {
    const token = tokenOf("string", typed);
    assert.equal(JSON.parse(token ?? ""), typed);
  }
});

test("yes or no stays yes or no", () => {
  assert.equal(tokenOf("boolean", "false"), "false");
  assert.equal(tokenOf("boolean", "0"), null);
});

test("a value that a plain field would hide or change is not edited in one", () => {
  const text = JSON.stringify({
    plain: "two\nlines\tand a tab",
    crlf: "two\r\nlines",
    hidden: "pay\u200bpal",
    nul: "\u0000",
    nothing: null,
    list: [],
  });
  const typed = (key: string) => {
    const node = nodeAt(text, [key]);
    return node === null ? undefined : typedOf(text, node);
  };
  assert.equal(typed("plain"), "two\nlines\tand a tab");
  for (const key of ["crlf", "hidden", "nul", "nothing", "list"])
    assert.equal(typed(key), null, key);
});
