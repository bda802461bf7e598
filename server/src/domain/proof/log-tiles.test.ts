import assert from "node:assert/strict";
import { test } from "node:test";
import { formatTileAddress, parseTileAddress, tileRange } from "./log-tiles.ts";

test("addresses of tiles are read and written as tlog-tiles says", () => {
  for (const [path, level, index, width] of [
    ["0/000", 0, 0, 256],
    ["1/x001/x234/067", 1, 1234067, 256],
    ["0/x001/000.p/1", 0, 1000, 1],
    ["63/999.p/255", 63, 999, 255],
    ["entries/x001/234", "entries", 1234, 256],
  ] as const) {
    assert.deepEqual(parseTileAddress(path), { level, index, width });
    assert.equal(formatTileAddress({ level, index, width }), path);
  }
});

test("another spelling of an address is none", () => {
  for (const path of [
    "",
    "0",
    "0/",
    "0/0",
    "0/00",
    "0/0000",
    "00/000",
    "64/000",
    "-1/000",
    "0/x000/001",
    "0/001/002",
    "0/x001",
    "0/000.p/0",
    "0/000.p/256",
    "0/000.p/01",
    "0/000.p",
    "0/000/",
    "/0/000",
    "data/000",
    "entries/000.p/999",
    "0/x999/x999/x999/x999/x999/999",
  ]) {
    assert.equal(parseTileAddress(path), null, path);
  }
});

test("a tree of 70,000 entries has the tiles of the example in tlog-tiles", () => {
  const has = (path: string) => {
    const address = parseTileAddress(path);
    return address !== null && tileRange(address, 70_000) !== null;
  };
  for (const path of ["0/272", "0/273.p/112", "1/000", "1/001.p/17", "2/000.p/1"]) {
    assert.ok(has(path), path);
  }
  for (const path of ["0/273", "0/273.p/113", "1/001.p/18", "2/000", "2/000.p/2", "3/000.p/1"]) {
    assert.ok(!has(path), path);
  }
});
