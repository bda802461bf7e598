// Receipts with their proofs, as an executor checks them, exports, as an auditor does, and cosignatures without a
// witness's process.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { receipts } from "../../sdk/src/proof/proof.ts";
import { runVerify } from "../../verify/src/program.ts";
import { cosign } from "../src/domain/proof/cosignature.ts";
import { cosignatureV1, formatVerifierKey, verifierKey } from "../src/domain/proof/note.ts";
import { exportLog } from "../src/operations/proof/export-log.ts";
import { makeFolder, makeSigner } from "./test-log.ts";
import { type TestService, testPublicUrl } from "./test-service.ts";

type Reading = Pick<TestService, "app" | "db">;

export async function readText({ app }: Reading, path: string, key?: string) {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const reply = await app.inject({ url: path, headers });
  return { status: reply.statusCode, text: reply.body };
}

/** The level with the decision, or the reason. */
export async function checkReceipt(
  service: Reading,
  { workspaceId, key, id }: { workspaceId: string; key: string; id: string },
  witnesses: readonly string[] = [],
): Promise<string> {
  const receipt = (await readText(service, `/v1/requests/${id}/receipt`, key)).text;
  const proof = await readText(service, `/v1/requests/${id}/log-proof`, key);
  if (proof.status !== 200) return `log-proof answers ${proof.status}`;
  const said = await receipts.verify(receipt, {
    jwks: JSON.parse((await readText(service, "/.well-known/jwks.json")).text),
    issuer: testPublicUrl,
    audience: workspaceId,
    proof: proof.text,
    allowRejected: true,
    ...(witnesses.length === 0 ? {} : { witnesses }),
  });
  return said.ok ? `${said.level} ${said.claims.decision}` : `${said.reason}: ${said.message}`;
}

export async function saveTexts(texts: AsyncIterable<string>): Promise<string> {
  const path = join(makeFolder(), "log.jsonl");
  let text = "";
  for await (const piece of texts) text += piece;
  writeFileSync(path, text);
  return path;
}

/** What the program says of the workspace's export. */
export async function checkExport(
  { servicePool }: Pick<TestService, "servicePool">,
  workspaceId: string,
  ...flags: string[]
) {
  const path = await saveTexts(exportLog(servicePool, { workspaceId, format: "jsonl" }));
  return checkFile(path, ...flags);
}

/** What it says of a file that was saved before. */
export async function checkFile(path: string, ...flags: string[]) {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  const exitCode = await runVerify(["export", path, ...flags, "--json"], { env: {}, write });
  const { findings = [], doubts = [], notes = [], anchors = [] } = JSON.parse(text);
  const codes: string[] = findings.map(({ code }: { code: string }) => code);
  return { exitCode, codes, doubts, notes: notes.join(), anchors: anchors.join() };
}

/** A witness's cosignature of the installation's newest head. Answers its key. */
export async function cosignNewest(
  { db }: Pick<TestService, "db">,
  name: string,
  signer = makeSigner(),
): Promise<string> {
  const { rows } = await db.query<{ tree_id: number; size: string; note: string }>(
    `select c.tree_id, c.size, c.note from log_checkpoints c join log_trees t on t.id = c.tree_id
     where t.workspace_id is null and t.closed_at is null order by c.size desc limit 1`,
  );
  const [head] = rows;
  if (head === undefined) throw new Error("the installation's log has no head");
  const body = head.note.slice(0, head.note.lastIndexOf("\n\n") + 1);
  await db.query(
    "insert into log_cosignatures (tree_id, size, witness, line) values ($1, $2, $3, $4)",
    [head.tree_id, head.size, name, cosign(body, name, new Date(), signer)],
  );
  return formatVerifierKey(verifierKey(name, cosignatureV1, signer.publicKey));
}
