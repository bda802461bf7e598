// The hook as an MCP server, called as Claude Code calls the tool of --permission-prompt-tool.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { serve } from "../../sdk/test/served.ts";
import { folder, type Guarded, guard } from "./guarded.ts";
import { program } from "./stub-harness.ts";

const served = await serve();
after(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

function start({ rulesPath, env }: Guarded, ...more: string[]) {
  const args = [program, "permission-prompt", "--rules", rulesPath, "--wait", "300", ...more];
  const child = spawn(process.execPath, args, { env, stdio: "pipe" });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const next = async () => JSON.parse((await lines.next()).value ?? "null");
  const send = async (method: string, params: object) => {
    id += 1;
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return next();
  };
  const ask = async (input: object, toolName = "Bash") => {
    const given = { tool_name: toolName, input, tool_use_id: `toolu_${id}` };
    const { result } = await send("tools/call", { name: "approve", arguments: given });
    return JSON.parse(result.content[0].text);
  };
  return { child, next, send, ask };
}

test("it introduces itself and names one tool, and answers nothing else", async () => {
  const { child, next, send } = start(await guard(served));
  const { result } = await send("initialize", { protocolVersion: "2025-06-18", capabilities: {} });
  assert.equal(result.protocolVersion, "2025-06-18");
  const { tools } = (await send("tools/list", {})).result;
  assert.deepEqual(
    tools.map(({ name }: { name: string }) => name),
    ["approve"],
  );
  assert.equal((await send("resources/list", {})).error.code, -32_601);
  for (const line of ["null", "7", '"x"', "[]", "{", '{"id":1,"id":2,"method":"ping"}']) {
    child.stdin.write(`${line}\n`);
  }
  const isError = async () => typeof (await next()).error?.code === "number";
  for (let count = 0; count < 6; count += 1) assert.ok(await isError());
  const other = await send("tools/call", { name: "decide", arguments: {} });
  assert.equal(JSON.parse(other.result.content[0].text).behavior, "deny");
  child.kill();
});

test("an approved call is allowed with its input or the edit, a rejected one denied with the note", async () => {
  const input = { command: "git push" };
  const [plain, edited, rejected] = await Promise.all(
    [null, '{"command": "git push review"}', undefined].map(async (edit) => {
      const guarded = await guard(served);
      const { child, ask } = start(guarded);
      const answer = ask(input);
      const id = await guarded.asked();
      if (edit === undefined) await served.reject(id, "Not now");
      else await served.approve(id, edit ?? undefined);
      const told = await answer;
      child.kill();
      return told;
    }),
  );
  assert.deepEqual(plain, { behavior: "allow", updatedInput: input });
  assert.deepEqual(edited, { behavior: "allow", updatedInput: { command: "git push review" } });
  assert.equal(rejected.behavior, "deny");
  assert.match(rejected.message, /Not now/);
});

test("what the rules let pass, a service that is away, and time that runs out are a no", async () => {
  const guarded = await guard(served);
  const away = await guard(served, {}, "http://127.0.0.1:9");
  const answers = await Promise.all(
    [
      { server: start(guarded), tool: "Read" },
      { server: start(away), tool: "Bash" },
      { server: start(guarded, "--wait", "4"), tool: "Bash" },
    ].map(async ({ server: { child, ask }, tool }) => {
      const answer = await ask({ command: "ls" }, tool);
      child.kill();
      return answer;
    }),
  );
  for (const { behavior, message } of answers) {
    assert.equal(behavior, "deny");
    assert.notEqual(message, "");
  }
});
