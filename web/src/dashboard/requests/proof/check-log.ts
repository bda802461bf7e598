// Checks what the log has about a decision: what each entry stands for, its place in the tree, the signature of the
// checkpoint, the installation's log, and who cosigned that.

import { utf8 } from "../../../../../sdk/src/proof/bytes.ts";
import type { ReceiptClaims } from "../../../../../sdk/src/proof/claims.ts";
import { differenceOf } from "../../../../../sdk/src/proof/decision-fact.ts";
import { areSalted, type LogEntry, readEntry } from "../../../../../sdk/src/proof/log-entry.ts";
import {
  isOfOrigin,
  isSignedByIssuer,
  type LogProof,
  parseLogProof,
} from "../../../../../sdk/src/proof/log-proof.ts";
import { readObject } from "../../../../../sdk/src/proof/members.ts";
import { checkpointBody } from "../../../../../sdk/src/proof/note.ts";
import { isIncluded, leafHash } from "../../../../../sdk/src/proof/tree.ts";
import type { LogPlace, OpenedLogEntry } from "../../../../../server/src/wire/dashboard-proof.ts";
import { type Check, check, differences, type Given, open, right, wrong } from "./check.ts";

type Entry = LogPlace["entries"][number];

export async function checkLog(given: Given, claims: ReceiptClaims | null): Promise<Check[]> {
  const { log } = given.proof;
  const proof = log?.proof == null ? null : parseLogProof(log.proof);
  const decision = log?.entries.find(({ index }) => index === proof?.index);
  if (log === null || log.proof === null) return [{ title: "Log", ...open(notYet) }];
  if (proof === null || decision === undefined) {
    return [{ title: "Log", ...wrong("What was sent as a proof of the log is none.") }];
  }
  const site = given.issuer.replace(/^https?:\/\//, "");
  return [
    await check("Entries of the log", () => checkEntries(log.entries, given.request.id)),
    await check("Payload in the log", () => checkPayloads(log.entries, given)),
    await check("Decision in the log", () => checkDecision(decision, claims)),
    await check("Evidence in the log", () => checkEvidence(decision, given)),
    await check("Place in the log", () => checkPlace(proof, decision, log.installation?.proof)),
    await check("Checkpoint", () =>
      isOf(log, proof)
        ? checkSigned(proof, given, `${site}/log/${given.workspaceId}`)
        : wrong("The checkpoint shown above is not the one that the proof is of."),
    ),
    ...(await checkInstallation(log, proof, { given, site })),
  ];
}

const notYet =
  "No signed checkpoint has this decision. After a decision that takes a few seconds: load the page again. Decisions from before the log have no entry.";

function isOf(
  { origin, checkpoint, proof }: LogPlace,
  { checkpoint: { origin: proved } }: LogProof,
) {
  return origin === proved && proof?.endsWith(`\n\n${checkpoint}`) === true;
}

async function checkEntries(entries: readonly Entry[], requestId: string) {
  const opened = entries.map((each) => ({ ...each, read: readEntry(each.entry) }));
  const isRight = await areSalted(
    opened.map(({ read, salt, fact }) => ({ entry: read, salt, field: "fact", text: fact })),
  );
  const flawed = opened.filter(
    ({ read, fact }, at) => isRight[at] !== true || !isAbout(read, fact, requestId),
  );
  return flawed.length === 0
    ? right(
        `${entries.length} entries about this request stand for the facts that came with them. The lines below prove the place of the decision alone; an export proves all.`,
      )
    : wrong(
        `These entries stand for something else: ${flawed.map((each) => each.index).join(", ")}.`,
      );
}

function isAbout({ kind, at, request }: LogEntry, fact: string, requestId: string): boolean {
  const said = JSON.parse(fact) as { kind?: unknown; at?: unknown };
  return request === requestId && said.kind === kind && said.at === at;
}

/** What was asked for, and what was approved, by the very bytes on the page. */
async function checkPayloads(entries: readonly Entry[], { request }: Given) {
  const { payload, edit } = request;
  const texts = entries.flatMap(({ entry: text, salt, index }) => {
    const entry = readEntry(text);
    if (entry.kind === "request.created") {
      return [{ index, entry, salt, field: "payload", text: payload }];
    }
    if (entry.kind !== "request.approved") return [];
    return [{ index, entry, salt, field: "effective", text: edit ?? payload }];
  });
  if (texts.length === 0) return open("The request is older than the log.");
  const given = texts.flatMap((each) => (each.text === null ? [] : [{ ...each, text: each.text }]));
  const isRight = await areSalted(given);
  const flawed = [
    ...given.filter((_, at) => isRight[at] !== true),
    ...texts.filter(({ text, entry, field }) => text === null && entry.salted.has(field)),
  ];
  if (flawed.length > 0) {
    const places = flawed.map(({ index, field }) => `entry ${index} (${field})`).join(", ");
    return wrong(`The log stands for another text than this page shows: ${places}.`);
  }
  return right(
    given.length === 0
      ? "There is no payload, and the log has none."
      : `The text on this page has the salted hash of ${given.map(({ index }) => `entry ${index}`).join(" and ")}.`,
  );
}

function checkDecision({ entry: text, fact }: Entry, claims: ReceiptClaims | null) {
  if (claims === null) return open("There is no receipt to compare it with.");
  const entry = readEntry(text);
  if (entry.id !== claims.jti || entry.request !== claims.sub) {
    return wrong(`The entry is about another decision: ${entry.id}, ${entry.request}.`);
  }
  const difference = differenceOf(claims, readObject(fact, "the fact"));
  return difference === null
    ? right("The log says the same as the receipt: decision, time, people, policy and payloads.")
    : wrong(`The log says otherwise than the receipt about “${difference}”.`);
}

type FactEvidence = {
  shown: { v: number; digest: string };
  openedAt: string | null;
  openMs: number | null;
  amr: string[];
  address: string | null;
  userAgent: string | null;
  page: string | null;
  signed: { credential: string } | null;
};
type FactVote = { email: string; at: string; verdict: string; evidence: FactEvidence | null };

/** The evidence above is what the log has had since the decision. */
function checkEvidence({ fact }: Entry, { request }: Given) {
  const { votes } = JSON.parse(fact) as { votes: FactVote[] };
  const differing = votes.flatMap(({ email, at, verdict, evidence }) => {
    const kept = request.evidence?.find((each) => each.email === email && each.at === at);
    if (kept === undefined || evidence === null) {
      return kept === undefined && evidence === null ? [] : [`${email}: only one of them has it`];
    }
    return differences({
      [`${email}, verdict`]: [kept.verdict, verdict],
      [`${email}, shown`]: [kept.shown.digest, evidence.shown.digest],
      [`${email}, opened`]: [kept.openedAt, evidence.openedAt],
      [`${email}, open for`]: [kept.openMs, evidence.openMs],
      [`${email}, way in`]: [kept.amr, evidence.amr],
      [`${email}, address`]: [kept.address, evidence.address],
      [`${email}, browser`]: [kept.userAgent, evidence.userAgent],
      [`${email}, page`]: [kept.page, evidence.page],
      [`${email}, passkey`]: [kept.credentialId, evidence.signed?.credential ?? null],
    });
  });
  return differing.length === 0
    ? right("The evidence above is what the log has had since the decision.")
    : wrong(`The evidence above is not what the log has. ${differing.join("; ")}.`);
}

async function checkPlace(
  proof: LogProof,
  { entry, fact, salt, index }: OpenedLogEntry & { index: number },
  installation?: string,
) {
  const { size, root } = proof.checkpoint;
  if (proof.extra !== JSON.stringify({ entry, fact, salt, installation })) {
    return wrong("The proof carries another entry than the one that was shown.");
  }
  const leaf = await leafHash(utf8(entry));
  return (await isIncluded({ index, size, leaf, proof: proof.hashes, root }))
    ? right(`Entry ${index} is one of the ${size} entries under the checkpoint’s root.`)
    : wrong(`Entry ${index} is not under the checkpoint’s root.`);
}

async function checkSigned({ note, checkpoint }: LogProof, { proof }: Given, origin: string) {
  if (!isOfOrigin(checkpoint.origin, origin)) {
    return wrong(`It is a checkpoint of the log ${checkpoint.origin}, not of ${origin}.`);
  }
  return (await isSignedByIssuer(note, checkpoint.origin, proof.jwks))
    ? right(`The service signed that ${checkpoint.origin} has ${checkpoint.size} entries.`)
    : wrong("No key of the service has signed it.");
}

async function checkInstallation(
  { installation }: LogPlace,
  inner: LogProof,
  { given, site }: { given: Given; site: string },
): Promise<Check[]> {
  const title = "Installation’s log";
  const outer = installation === null ? null : parseLogProof(installation.proof);
  if (installation === null) {
    return [{ title, ...open("The checkpoint isn’t there yet. Load the page again in a while.") }];
  }
  if (outer === null) return [{ title, ...wrong("What was sent as its proof is none.") }];
  return [
    await check(title, () => checkOuter(installation, outer, inner)),
    await check("Installation’s checkpoint", () => checkSigned(outer, given, `${site}/log`)),
    await check("Witnesses", () => checkWitnesses(outer)),
  ];
}

async function checkOuter(installed: OpenedLogEntry, outer: LogProof, inner: LogProof) {
  const entry = readEntry(installed.entry);
  const text = checkpointBody(inner.checkpoint);
  const [isRight] = await areSalted([{ entry, salt: installed.salt, field: "checkpoint", text }]);
  const { body } = JSON.parse(installed.fact) as { body?: unknown };
  if (entry.kind !== "checkpoint" || isRight !== true || body !== text) {
    return wrong("Its entry stands for another checkpoint than the one above.");
  }
  return checkPlace(outer, { ...installed, index: outer.index });
}

/** This page has no keys of witnesses: the service would have to name them, and it is the one that is checked. */
function checkWitnesses({ note, checkpoint }: LogProof) {
  const others = note.signatures.filter(({ name }) => name !== checkpoint.origin);
  if (others.length === 0) {
    return open(
      "Nobody else has cosigned. That everybody is shown the same log is the operator’s word.",
    );
  }
  const names = others.map(({ name }) => name).join(", ");
  return open(
    `Cosigned in the name of ${names}. This page doesn’t have their keys: check with the file verifier and a key that you got from the witness.`,
  );
}
