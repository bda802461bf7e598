// verify receipt: a receipt, with the bytes that it is about, the log's proof, and passkeys that are known.

import { CountersignError } from "../../sdk/src/errors.ts";
import type { PinnedCredential } from "../../sdk/src/proof/assertion.ts";
import { timeOf } from "../../sdk/src/proof/claims.ts";
import type { LogProofs } from "../../sdk/src/proof/log-proof.ts";
import { verifyReceipt } from "../../sdk/src/proof/receipt.ts";
import { CannotTell, readBytes, readKeys, readText, timeAt } from "./given.ts";
import type { Verdict } from "./verdict.ts";

export type ReceiptFlags = {
  payload?: string;
  jwks?: string;
  issuer?: string;
  audience?: string;
  credentials?: string;
  proof?: string;
  witness?: string[];
  at?: string;
  "allow-rejected"?: boolean;
};

export async function receiptCommand(path: string, flags: ReceiptFlags): Promise<Verdict> {
  const receipt = (await readText(path)).trim();
  const claimed = peek(receipt);
  if (flags.issuer === undefined && flags.jwks === undefined) {
    throw new CannotTell(
      "whose receipt must it be? Give --issuer or --jwks: otherwise the receipt would name its own judge",
    );
  }
  const issuer = flags.issuer ?? issuerOf(flags.jwks) ?? claimed.iss;
  const audience = flags.audience ?? claimed.aud;
  const said = await verifyReceipt(receipt, {
    issuer: issuer ?? "unknown:",
    audience: audience ?? "nobody",
    ...(flags.jwks === undefined ? {} : { jwks: await readKeys(flags.jwks) }),
    ...(flags.payload === undefined ? {} : { payload: await readBytes(flags.payload) }),
    ...(flags.at === undefined ? {} : { now: timeAt(flags.at) / 1_000 }),
    ...(flags.credentials === undefined
      ? {}
      : { credentials: await readJson<PinnedCredential[]>(flags.credentials) }),
    ...(flags.proof === undefined ? {} : { proof: await readProof(flags.proof) }),
    ...(flags.witness === undefined ? {} : { witnesses: flags.witness }),
    allowRejected: flags["allow-rejected"] === true,
  }).catch((error) => {
    if (error instanceof CountersignError || error instanceof TypeError) {
      throw new CannotTell(error.message);
    }
    throw error;
  });
  if (!said.ok) {
    return { exitCode: 1, lines: [`Not valid: ${said.reason}. ${said.message}.`], data: said };
  }
  const { claims } = said;
  const people = claims.by.map(({ email }) => email).join(", ");
  const unchecked = [
    ...(flags.payload === undefined ? ["no payload was compared (--payload)"] : []),
    ...(flags.issuer === undefined && issuerOf(flags.jwks) === undefined
      ? ["the issuer is the receipt's own word (--issuer)"]
      : []),
    ...(flags.audience === undefined
      ? ["the audience is the receipt's own word (--audience)"]
      : []),
  ];
  return {
    exitCode: 0,
    lines: [
      `Valid, ${said.level}: ${claims.sub} was ${claims.decision} by ${people} at ${timeOf(claims.iat)}.`,
      `Issued by ${claims.iss} for ${claims.aud.join(", ")}, valid until ${timeOf(claims.exp)}.`,
      ...(said.isLogged
        ? [`The log says the same${said.isWitnessed ? ", and the witnesses have seen it" : ""}.`]
        : []),
      ...unchecked.map((words) => `Note: ${words}.`),
    ],
    data: {
      ...{ ok: true, level: said.level, isLogged: said.isLogged, isWitnessed: said.isWitnessed },
      notChecked: unchecked,
    },
  };
}

/** Only to fill in what wasn't given. Everything is verified after. */
function peek(receipt: string): { iss?: string; aud?: string } {
  try {
    const claims = JSON.parse(Buffer.from(receipt.split(".")[1] ?? "", "base64url").toString());
    return { iss: claims.iss, aud: claims.aud?.[0] };
  } catch {
    return {};
  }
}

/** Keys from a service's own address are the keys of that service. */
function issuerOf(jwks: string | undefined): string | undefined {
  const [, issuer] = /^(https?:\/\/.*)\/\.well-known\/jwks\.json$/.exec(jwks ?? "") ?? [];
  return issuer;
}

async function readProof(path: string): Promise<string | LogProofs> {
  const text = await readText(path);
  return text.startsWith("{") ? parseJson<LogProofs>(text, path) : text;
}

async function readJson<Value>(path: string): Promise<Value> {
  return parseJson(await readText(path), path);
}

function parseJson<Value>(text: string, path: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    throw new CannotTell(`${path} is no JSON`);
  }
}
