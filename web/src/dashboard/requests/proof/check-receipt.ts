// Checks a receipt against the keys of the service, the bytes on the page, the evidence, and the passkeys of people.

import {
  refuseStrayAssertions,
  refuseUnsignedVotes,
} from "../../../../../sdk/src/proof/assertion.ts";
import { toBase64Url, utf8 } from "../../../../../sdk/src/proof/bytes.ts";
import {
  type Digested,
  type ReceiptClaims,
  readClaims,
  type SignedVote,
  timeOf,
} from "../../../../../sdk/src/proof/claims.ts";
import { isSignedByEd25519 } from "../../../../../sdk/src/proof/ed25519.ts";
import { sha256 } from "../../../../../sdk/src/proof/hashing.ts";
import { readJws } from "../../../../../sdk/src/proof/jws.ts";
import { findKey } from "../../../../../sdk/src/proof/key-set.ts";
import type { RequestEvidence } from "../../../../../server/src/wire/dashboard-evidence.ts";
import { toLocalTime } from "../../../look/time/local-time.ts";
import { type Check, check, differences, type Given, open, right, wrong } from "./check.ts";
import { shortened } from "./evidence-words.ts";

const type = "countersign-receipt+jwt";

/** The claims even of a receipt that is wrong: the other lines say what differs. */
export function claimsOf(receipt: string): ReceiptClaims | null {
  try {
    return readClaims(readJws(receipt, type).claims);
  } catch {
    return null;
  }
}

export async function checkReceipt(given: Given): Promise<Check[]> {
  const { receipt } = given.proof;
  if (receipt === null) {
    return [
      {
        title: "Receipt",
        ...open("There is none at present: the service lacks the key that signs it."),
      },
    ];
  }
  const claims = claimsOf(receipt);
  const signature = await check("Receipt’s signature", () => checkSignature(receipt, given));
  if (claims === null) return [signature];
  const { request } = given;
  return [
    signature,
    await check("Receipt is about this decision", () => checkSubject(claims, given)),
    await check("Payload that was asked for", () => checkText(request.payload, claims.payload)),
    ...(claims.effective === null
      ? []
      : [
          await check("Payload that was approved", () =>
            checkText(request.edit ?? request.payload, claims.effective),
          ),
        ]),
    await check("Who decided", () => checkVotes(claims, request.evidence ?? [])),
    ...(await Promise.all(claims.by.map((vote) => checkPerson(claims, vote, given)))),
    await check("Validity", () => checkTime(claims, given.nowMs)),
  ];
}

async function checkSignature(receipt: string, { proof, issuer }: Given) {
  const { kid, signed, signature, claims } = readJws(receipt, type);
  const { publicKey, retiredAt } = await findKey(proof.jwks, kid);
  if (!(await isSignedByEd25519(publicKey, signed, signature))) {
    return wrong("The signature doesn’t fit the text: the receipt was changed, or never signed.");
  }
  // Throws where something is signed, but no receipt.
  const { iat } = readClaims(claims);
  if (retiredAt !== null && iat > retiredAt) {
    return wrong("It was signed with a key that was retired before the decision.");
  }
  return right(
    `Signed with the key ${shortened(kid)} that ${issuer} publishes. Compare it with one that you noted elsewhere.`,
  );
}

function checkSubject(claims: ReceiptClaims, { request, workspaceId, issuer }: Given) {
  const differing = differences({
    service: [issuer, claims.iss],
    request: [request.id, claims.sub],
    workspace: [workspaceId, claims.ws],
    decision: [request.status.toLowerCase(), claims.decision],
    time: [Math.floor(Date.parse(request.resolvedAt ?? "") / 1_000), claims.iat],
    edited: [request.edit !== null, claims.edited],
  });
  return differing.length === 0
    ? right(`It is about ${claims.sub}: ${claims.decision}, for ${claims.aud.join(", ")}.`)
    : wrong(`The page and the receipt differ. ${differing.join("; ")}.`);
}

async function checkText(text: string | null, claimed: Digested | null) {
  if (text === null) {
    return claimed === null || claimed.digest === null
      ? right("There is no payload, and the receipt says so.")
      : wrong("This page has no payload, but the receipt names one.");
  }
  const bytes = utf8(text);
  const digest = toBase64Url(await sha256(bytes));
  if (claimed?.digest === digest && claimed.bytes === bytes.length) {
    return right(`SHA-256 of the ${bytes.length} bytes on this page: ${shortened(digest)}`);
  }
  return wrong(
    `The text on this page is not the one in the receipt. Here ${bytes.length} bytes with SHA-256 ${digest}, in the receipt ${claimed?.bytes ?? 0} bytes with ${claimed?.digest ?? "none"}.`,
  );
}

function checkVotes(claims: ReceiptClaims, evidence: readonly RequestEvidence[]) {
  if (evidence.length === 0) return open("No evidence was kept when this was decided.");
  const differing = claims.by.flatMap((vote, at) => {
    const kept = evidenceOf(vote, evidence);
    if (kept === undefined) return [`${vote.email}: no evidence of this vote`];
    const isLast = at === claims.by.length - 1;
    return differences({
      ...{ [`${vote.email}, way in`]: [kept.amr, vote.amr] },
      ...{ [`${vote.email}, on behalf of`]: [kept.for, vote.for ?? null] },
      ...{ [`${vote.email}, passkey`]: [kept.credentialId, vote.cred ?? null] },
      ...(isLast ? { "digest of what was shown": [kept.shown.digest, claims.shown?.digest] } : {}),
    });
  });
  if (differing.length > 0) return wrong(`Evidence and receipt differ. ${differing.join("; ")}.`);
  const names = claims.by.map(({ email }) => email).join(", ");
  return right(`The receipt names ${names}, with the way in and the time of the evidence above.`);
}

function evidenceOf(
  vote: SignedVote,
  evidence: readonly RequestEvidence[],
): RequestEvidence | undefined {
  return evidence.find(({ email, at }) => email === vote.email && at === vote.at);
}

/** By the public key that the service has. A verifier that pins keys checks more. */
function checkPerson(
  claims: ReceiptClaims,
  vote: SignedVote,
  { proof, request }: Given,
): Promise<Check> {
  return check(`Signature of ${vote.email}`, async () => {
    if (vote.assertion === undefined) {
      return open("They decided without a passkey. That it was them is the service’s word.");
    }
    const kept = evidenceOf(vote, request.evidence ?? []);
    const alone = { ...claims, by: [vote], shown: kept?.shown ?? claims.shown };
    if (claims.by.some((each) => each !== vote && isSameVoter(each, vote))) {
      return wrong("One person, or one passkey, stands for two votes.");
    }
    if (!proof.credentials.some(({ id }) => id === vote.cred)) {
      await refuseStrayAssertions(alone);
      return open(
        "Their passkey was removed since, so its public key isn’t here. The log has it, if this workspace knew them on the day when it was added.",
      );
    }
    await refuseUnsignedVotes(alone, proof.credentials);
    return right(
      `Signed with their passkey ${shortened(vote.cred ?? "")}, after it made sure who was there: this verdict, these bytes, this audience.`,
    );
  });
}

function isSameVoter(one: SignedVote, other: SignedVote): boolean {
  return one.cred === other.cred || one.email.toLowerCase() === other.email.toLowerCase();
}

function checkTime({ exp }: ReceiptClaims, nowMs: number) {
  const time = new Date(exp * 1_000);
  // More seconds than any calendar has must still be told.
  const until = Number.isNaN(time.getTime()) ? timeOf(exp) : toLocalTime(time.toISOString());
  return exp * 1_000 > nowMs
    ? right(`Programs may act on it until ${until}.`)
    : right(
        `It was valid until ${until}. Programs have refused it since then. What it says still holds.`,
      );
}
