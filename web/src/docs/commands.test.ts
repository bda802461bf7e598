import assert from "node:assert/strict";
import { test } from "node:test";
import { commandsOf } from "./commands.ts";

test("commands are copied without their prompts and without what they answered", () => {
  assert.equal(
    commandsOf("$ cd countersign\n$ npm start\ncountersign is running"),
    "cd countersign\nnpm start",
  );
});

test("a command that goes on in the next line is copied whole", () => {
  assert.equal(
    commandsOf("$ curl localhost \\\n  -d '{}'\n{\"id\": 1}"),
    "curl localhost \\\n  -d '{}'",
  );
});

test("text without a prompt is copied as it is", () => {
  assert.equal(commandsOf("npm start\nnpm test"), "npm start\nnpm test");
});
