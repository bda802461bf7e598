import assert from "node:assert/strict";
import { test } from "node:test";
import { HostWalks } from "./host-walks.ts";

const nothing = new Map<string, number>();
const at = (after: string | null) => [{ workspaceId: "ws_1", underWay: 0, after }];
const look = (last: string | null) => [{ workspaceId: "ws_1", last }];

test("a walk continues behind the last host, ends, and is not made again without news", () => {
  const walks = new HostWalks();
  assert.deepEqual(walks.standings(nothing), []);
  assert.equal(walks.noteLooks(look("h.example"), nothing), true);
  assert.deepEqual(walks.standings(nothing), at("h.example"));
  assert.equal(walks.noteLooks(look("p.example"), nothing), true);
  assert.equal(walks.noteLooks(look(null), nothing), false);
  const [over] = walks.standings(nothing);
  assert.ok(over?.after !== undefined && over.after !== null && over.after > "zzz.example:65535");
  assert.equal(walks.noteLooks(look(null), nothing), false);
  walks.noteNews();
  assert.deepEqual(walks.standings(nothing), []);
});

test("news during a walk has it made once more from the first host", () => {
  const walks = new HostWalks();
  walks.noteLooks(look("h.example"), nothing);
  walks.noteNews();
  assert.deepEqual(walks.standings(nothing), at("h.example"));
  assert.equal(walks.noteLooks(look("p.example"), nothing), true);
  assert.equal(walks.noteLooks(look(null), nothing), true);
  assert.deepEqual(walks.standings(nothing), []);
  walks.noteLooks(look("h.example"), nothing);
  assert.equal(walks.noteLooks(look(null), nothing), false);
});

test("a workspace with its share under way keeps its place, and one with nothing due is forgotten", () => {
  const walks = new HostWalks();
  const busy = new Map([["ws_1", 64]]);
  walks.noteLooks(look("h.example"), busy);
  assert.equal(walks.noteLooks([], busy), false);
  assert.deepEqual(walks.standings(busy), [{ ...at("h.example")[0], underWay: 64 }]);
  walks.noteLooks([], nothing);
  assert.deepEqual(walks.standings(nothing), []);
});
