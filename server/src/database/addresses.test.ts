import assert from "node:assert/strict";
import { test } from "node:test";
import { flawOfHosts, splitAddress, takeOptions } from "./addresses.ts";

test("an address of one host stays as it is", () => {
  for (const address of [
    "postgres://u:p%40@h/db",
    "postgresql://u@[::1]:5433/db?sslmode=require",
    "postgres://u@localhost/db?host=%2Ftmp%2Fa&port=5432",
    "postgres:///db",
  ]) {
    assert.deepEqual(splitAddress(address), [address]);
    assert.equal(flawOfHosts(address), null);
  }
});

test("each host of an address gets all the rest of it", () => {
  assert.deepEqual(splitAddress("postgres://u:p%40@h1:5432,[::1]:6432,h3/db?sslmode=require"), [
    "postgres://u:p%40@h1:5432/db?sslmode=require",
    "postgres://u:p%40@[::1]:6432/db?sslmode=require",
    "postgres://u:p%40@h3/db?sslmode=require",
  ]);
  assert.deepEqual(splitAddress("postgres://u@x/db?host=/a,/b&port=1,2"), [
    "postgres://u@x/db?host=%2Fa&port=1",
    "postgres://u@x/db?host=%2Fb&port=2",
  ]);
  assert.deepEqual(splitAddress("postgres:///db?host=/a,/b&port=7&user=u"), [
    "postgres:///db?host=%2Fa&port=7&user=u",
    "postgres:///db?host=%2Fb&port=7&user=u",
  ]);
});

test("an address that looks for a standby, or whose ports don't fit its hosts, is refused", () => {
  for (const sought of ["standby", "read-only", "prefer-standby"]) {
    const flaw = flawOfHosts(`postgres://u@h1,h2/db?target_session_attrs=${sought}`);
    assert.match(flaw ?? "", /use read-write/);
  }
  assert.equal(flawOfHosts("postgres://u@h1,h2/db?target_session_attrs=read-write"), null);
  assert.match(flawOfHosts("postgres:///db?host=a,b,c&port=1,2") ?? "", /give each host its port/);
});

test("options are taken out of an address, whatever its hosts", () => {
  assert.deepEqual(takeOptions("postgres://u@h1:1,h2:2/db?options=-c%20geqo%3Doff&x=1"), {
    address: "postgres://u@h1:1,h2:2/db?x=1",
    options: "-c geqo=off",
  });
  assert.deepEqual(takeOptions("postgres://u@h/db"), {
    address: "postgres://u@h/db",
    options: null,
  });
});
