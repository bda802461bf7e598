// The cases of the log: notes, trees, entries, and receipts that come with a proof of their place in the log.

import {
  bodyOf,
  consistencyOf,
  cosign,
  decisionEntry,
  decisionFact,
  inclusionOf,
  installationOrigin,
  keyLine,
  labelOf,
  leavesAround,
  openingOf,
  origin,
  otherWitness,
  type ProofParts,
  proofText,
  rootOf,
  salt,
  salted,
  signNote,
  witness,
} from "./log-parts.ts";
import { caseOf, type ReceiptCase } from "./receipt-cases.ts";
import { type Claims, decidedAt, digested, keys, payload, receiptOf } from "./receipt-parts.ts";
import { base64url, digest, ed25519Key } from "./test-keys.ts";

const [index, size] = [3, 7];

type Log = {
  fact?: string;
  entry?: string;
  opening?: object;
  origin?: string;
  key?: ReturnType<typeof ed25519Key>;
  change?: (parts: ProofParts) => Partial<ProofParts>;
};

function partsOf({ fact = decisionFact(), ...log }: Log = {}): ProofParts & { body: string } {
  const entry = log.entry ?? decisionEntry(fact);
  const leaves = leavesAround(entry, index, size);
  const body = bodyOf(log.origin ?? origin, leaves);
  const parts = {
    index,
    hashes: inclusionOf(index, leaves),
    note: signNote(body, log.origin ?? origin, log.key ?? keys.current),
    extra: JSON.stringify({ ...openingOf(entry, fact), ...log.opening }),
  };
  return { ...parts, ...log.change?.(parts), body };
}

function proofOf(log: Log = {}): string {
  return proofText(partsOf(log));
}

/** The decision's proof, and the place of its checkpoint in the installation's log, cosigned. */
function bundleOf(
  log: Log & { body?: string; kind?: string; label?: string; isCosigned?: boolean } = {},
) {
  const parts = partsOf(log);
  const body = log.body ?? parts.body;
  const entry = JSON.stringify({
    v: 1,
    kind: log.kind ?? "checkpoint",
    id: log.label ?? labelOf(log.origin ?? origin),
    at: "2026-11-15T13:00:01.000Z",
    salted: { checkpoint: salted("checkpoint", body) },
  });
  const fact = JSON.stringify({ kind: "checkpoint", origin, body });
  const leaves = leavesAround(entry, 4, 6);
  const note = signNote(bodyOf(installationOrigin, leaves), installationOrigin);
  const outer = {
    index: 4,
    hashes: inclusionOf(4, leaves),
    note: log.isCosigned === false ? note : cosign(note),
    extra: JSON.stringify(openingOf(entry, fact)),
  };
  return { proof: proofText(parts), installation: { proof: proofText(outer) } };
}

const vkeys = {
  witness: keyLine(witness.name, 0x04, witness.key).vkey,
  other: keyLine(otherWitness.name, 0x04, otherWitness.key).vkey,
  installation: keyLine(installationOrigin, 0x01, keys.current).vkey,
  log: keyLine(origin, 0x01, keys.current).vkey,
};

export function proofCases(): ReceiptCase[] {
  const proven = (name: string, says: string, log: Log = {}, claims: Claims = {}, more = {}) =>
    caseOf(`log: ${name}`, receiptOf(claims), says, { proof: proofOf(log), ...more });
  const refused = (name: string, log: Log, claims: Claims = {}) =>
    proven(name, "proof_invalid", log, claims);
  const bundled = (name: string, says: string, bundle: object, witnesses?: string[]) =>
    caseOf(`log: ${name}`, receiptOf(), says, { proof: bundle, witnesses });
  const changed = (name: string, claims: Claims) =>
    refused(`${name} changed, signed anew`, {}, claims);
  const vote = { email: "ann@example.com", at: "2026-11-15T13:00:00.123Z", amr: ["mail", "code"] };
  const older = origin.replace(".com", ".net");
  const named = { log: { origin: `${older}/2` } };
  return [
    proven("proven", "operator-signed"),
    proven("proven, after a restore", "operator-signed", { origin: `${origin}/2` }),
    bundled("proven in the installation's log", "operator-signed", bundleOf()),
    bundled("witnessed", "witnessed", bundleOf(), [vkeys.witness]),
    caseOf("log: witnessed in its own log", receiptOf(), "witnessed", {
      proof: proofOf({ change: ({ note }) => ({ note: cosign(note) }) }),
      witnesses: [vkeys.witness],
    }),
    bundled("one of two witnesses is missing", "proof_invalid", bundleOf(), [
      vkeys.witness,
      vkeys.other,
    ]),
    bundled("the installation's own key as a witness", "proof_invalid", bundleOf(), [
      vkeys.installation,
    ]),
    bundled("the installation's own key beside a witness", "proof_invalid", bundleOf(), [
      vkeys.witness,
      vkeys.installation,
    ]),
    proven("the log's own key as a witness", "proof_invalid", {}, {}, { witnesses: [vkeys.log] }),
    bundled("not cosigned", "proof_invalid", bundleOf({ isCosigned: false }), [vkeys.witness]),
    bundled(
      "another checkpoint in the installation's log",
      "proof_invalid",
      bundleOf({ body: bodyOf(origin, [digest("x")]) }),
    ),
    bundled(
      "another kind in the installation's log",
      "proof_invalid",
      bundleOf({ kind: "request.approved" }),
    ),
    bundled(
      "another log's name in the installation's log",
      "proof_invalid",
      bundleOf({ label: labelOf(`${origin}/2`) }),
    ),
    bundled("no proof of the decision", "proof_invalid", { ...bundleOf(), proof: null }),
    caseOf("log: witnesses without a proof", receiptOf(), "proof_invalid", {
      witnesses: [vkeys.witness],
    }),
    proven("no proof at all", "proof_invalid", {}, {}, { proof: "" }),
    refused("another log", { origin: origin.replace("ws_0", "ws_1") }),
    refused("another service's log", { origin: origin.replace(".com", ".net") }),
    refused("an origin that only begins like it", { origin: `${origin}x` }),
    proven("an older address that the receipt names", "operator-signed", { origin: older }, named),
    proven("the issuer's address, and the receipt names an older", "operator-signed", {}, named),
    caseOf(
      "log: witnessed, of an older address that the receipt names",
      receiptOf(named),
      "witnessed",
      {
        proof: bundleOf({ origin: older }),
        witnesses: [vkeys.witness],
      },
    ),
    refused("an address that neither names", { origin: origin.replace(".com", ".org") }, named),
    refused(
      "an older address, and the receipt names another workspace there",
      { origin: older },
      {
        log: { origin: older.replace("ws_0", "ws_1") },
      },
    ),
    refused("signed by another", { key: ed25519Key("attacker") }),
    refused("signed by a revoked key", { key: keys.revoked }),
    proven("signed by a retired key", "operator-signed", { key: keys.retired }),
    refused("another index", { change: () => ({ index: 2 }) }),
    refused("an index beyond the tree", { change: () => ({ index: 7 }) }),
    refused("a hash missing", { change: ({ hashes }) => ({ hashes: hashes.slice(1) }) }),
    refused("a hash more", { change: ({ hashes }) => ({ hashes: [...hashes, digest("x")] }) }),
    refused("hashes swapped", { change: ({ hashes }) => ({ hashes: hashes.toReversed() }) }),
    refused("a size changed", { change: ({ note }) => ({ note: note.replace("\n7\n", "\n8\n") }) }),
    refused("no extra data", { change: () => ({ extra: null }) }),
    refused("extra data that is no JSON", { change: () => ({ extra: "{" }) }),
    refused("another entry", { opening: { entry: decisionEntry("{}") } }),
    refused("another fact", { opening: { fact: decisionFact({ fact: { note: "Never." } }) } }),
    refused("another salt", { opening: { salt: base64url(digest("another")) } }),
    refused("a salt that is too short", { opening: { salt: "AAAA" } }),
    refused("another decision's entry", {
      entry: decisionEntry(decisionFact(), { id: "evt_other" }),
    }),
    refused("another request's entry", {
      entry: decisionEntry(decisionFact(), { request: "req_other" }),
    }),
    refused("a rejection's entry", {
      entry: decisionEntry(decisionFact(), { kind: "request.rejected" }),
    }),
    refused("a fact that says rejected", {
      fact: decisionFact({ fact: { kind: "request.rejected" } }),
    }),
    refused("a fact with a name twice", { fact: decisionFact().replace("{", '{"edited":true,') }),
    changed("jti", { jti: "evt_019a87c5d0017a2b9c3d4e5f60718294" }),
    changed("iat", { iat: decidedAt - 1 }),
    changed("edited", { edited: true }),
    changed("policy", { policy: { required: 0, stages: [1] } }),
    changed("policy.stages", { policy: { required: 1, stages: [] } }),
    changed("policy.signature", { policy: { required: 1, stages: [1], signature: true } }),
    changed("shown", { shown: { v: 1, digest: base64url(digest("what was shown")) } }),
    changed("payload", { payload: digested("1") }),
    changed("by.email", { by: [{ ...vote, email: "eve@example.com" }] }),
    changed("by.at", { by: [{ ...vote, at: "2026-11-15T13:00:00.124Z" }] }),
    changed("by.amr", { by: [{ ...vote, amr: ["mail"] }] }),
    changed("by.for", { by: [{ ...vote, for: "ben@example.com" }] }),
    changed("by (one more)", { by: [vote, vote] }),
  ];
}

export function noteCases(): object[] {
  const [name, text] = ["example.com/log", "Hello\n\nWorld\n"];
  const key = keyLine(name, 0x01, keys.current).vkey;
  const note = signNote(text, name);
  const cosigned = cosign(note);
  const of = (about: string, given: string, vkey: string, says: string) => ({
    name: about,
    note: given,
    vkey,
    says,
  });
  const otherKey = keyLine(name, 0x01, keys.attacker).vkey;
  const otherName = keyLine("example.com/other", 0x01, keys.current).vkey;
  return [
    of("signed", note, key, "signed"),
    of("signed, and cosigned", cosigned, key, "signed"),
    of("cosigned", cosigned, vkeys.witness, "signed"),
    of("cosigned by nobody known", cosigned, vkeys.other, "refused"),
    of("another key", note, otherKey, "refused"),
    of("another name", note, otherName, "refused"),
    of("another text", note.replace("World", "world"), key, "refused"),
    of("another time of the cosignature", otherTime(cosigned), vkeys.witness, "refused"),
    of("without a newline at the end", note.slice(0, -1), key, "refused"),
    of("without a blank line", note.replace("\n\n\u2014", "\n\u2014"), key, "refused"),
    of("a hyphen for the dash", note.replace("\u2014", "-"), key, "refused"),
    of("a control character", note.replace("World", "Wor\u0007ld"), key, "refused"),
    of("a line after the signatures", `${note}x\n`, key, "refused"),
    of(
      "base64 without padding",
      note.replace(/=+\n$/, "\n"),
      key,
      note.endsWith("=\n") ? "refused" : "signed",
    ),
    of("a key with another id", note, key.replace(/\+[0-9a-f]{8}\+/, "+00000000+"), "refused"),
    of("a key of another kind", note, keyLine(name, 0x02, keys.current).vkey, "refused"),
    of("no key", note, "", "refused"),
  ];
}

function otherTime(note: string): string {
  return note.replace(/(w1 )(\S+)\n$/, (_, start, encoded) => {
    const bytes = Buffer.from(encoded, "base64");
    bytes[11] = (bytes[11] ?? 0) ^ 1;
    return `${start}${bytes.toString("base64")}\n`;
  });
}

export function treeCases(): object {
  const leaves = Array.from({ length: 70 }, (_, at) => digest(`leaf ${at}`));
  const base64 = (hash: Buffer) => hash.toString("base64");
  const inclusion = [1, 2, 3, 7, 8, 64, 70].flatMap((size) =>
    [...new Set([0, 1, size >> 1, size - 1])]
      .filter((index) => index < size)
      .map((index) => {
        const part = leaves.slice(0, size);
        const proof = inclusionOf(index, part).map(base64);
        return {
          index,
          size,
          leaf: base64(leaves[index] as Buffer),
          root: base64(rootOf(part)),
          proof,
          says: true,
        };
      }),
  );
  const consistency = [
    [1, 2],
    [1, 70],
    [2, 3],
    [3, 7],
    [4, 8],
    [6, 8],
    [8, 64],
    [63, 70],
    [64, 70],
    [70, 70],
  ].map(([oldSize = 0, newSize = 0]) => {
    const part = leaves.slice(0, newSize);
    const roots = {
      oldRoot: base64(rootOf(part.slice(0, oldSize))),
      newRoot: base64(rootOf(part)),
    };
    return {
      oldSize,
      newSize,
      ...roots,
      proof: consistencyOf(oldSize, part).map(base64),
      says: true,
    };
  });
  const forked = consistency
    .slice(1, 9)
    .map((each) => ({ ...each, oldRoot: base64(digest("fork")), says: false }));
  const misplaced = inclusion
    .filter(({ size }) => size > 2)
    .map((each) => ({ ...each, index: each.index === 0 ? 1 : each.index - 1, says: false }));
  return { inclusion: [...inclusion, ...misplaced], consistency: [...consistency, ...forked] };
}

export function entryCases(): object[] {
  const fact = decisionFact();
  const entry = decisionEntry(fact);
  const of = (name: string, says: boolean, changes: object = {}) => ({
    ...{ name, entry, field: "fact", text: fact, salt: base64url(salt), says },
    ...changes,
  });
  return [
    of("a fact", true),
    of("a payload", true, { field: "effective", text: payload }),
    of("another fact", false, { text: fact.replace("ann@", "eve@") }),
    of("…992 for …993", false, { field: "effective", text: payload.replace("993", "992") }),
    of("another salt", false, { salt: base64url(digest("another")) }),
    of("a salt that is too short", false, { salt: "AAAA" }),
    of("no salt", false, { salt: "" }),
    of("a field that isn't there", false, { field: "payload", text: payload }),
    of("the fact as a payload", false, { field: "effective" }),
  ];
}
