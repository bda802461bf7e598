// Receipts of a fake service: the service's own claims, signed with a key that each fake makes for itself. Nobody opened
// a page, so they say nothing of how people proved who they are.

import type { Approval } from "../../../server/src/domain/approval/approval.ts";
import { isEmbedded } from "../../../server/src/domain/approval/call-parameters.ts";
import {
  approvedText,
  type DecisionFacts,
  type Digested,
  noReceipt,
  receiptClaims,
  receiptHeader,
  withEmbeddedText,
} from "../../../server/src/domain/proof/receipt.ts";
import { isRefusal } from "../../../server/src/domain/refusal.ts";
import type { JsonText } from "../../../server/src/domain/shown/json-text.ts";
import { personOf } from "../../../server/src/domain/workspace/email-address.ts";
import type { Approvals } from "../contract.ts";
import { type LedgerEntry, unknownRequest } from "./ledger.ts";
import { answered, hasTag, problem } from "./wire.ts";

type SigningPair = Awaited<ReturnType<typeof makePair>>;

const fakeWorkspaceId = `ws_${"1".padStart(32, "0")}`;
const validHours = 24;
const encoder = new TextEncoder();

export class FakeReceipts {
  readonly #issuer: string;
  #pair: Promise<SigningPair> | null = null;

  constructor(issuer: string) {
    this.#issuer = issuer;
  }

  /** Null unless somebody approved or rejected it. */
  async of(approval: Approval, { hasText = false } = {}): Promise<string | null> {
    const facts = await factsOf(approval);
    if (facts === null) return null;
    const claims = JSON.stringify(receiptClaims(facts, this.#issuer));
    const text = approvedText(approval);
    return this.#sign(hasText && !isRefusal(text) ? withEmbeddedText(claims, text) : claims);
  }

  /** As `GET /v1/requests/:id/receipt` answers. */
  async show(
    entry: LedgerEntry | null,
    query: URLSearchParams,
    headers: Headers,
  ): Promise<Response> {
    const isWithText = isEmbedded(query);
    if (isRefusal(isWithText)) return problem(isWithText);
    if (entry === null) return problem(unknownRequest());
    const receipt = await this.of(entry.approval, { hasText: isWithText });
    if (receipt === null) return problem(noReceipt());
    const etag = `"${(await digestOf(receipt)).digest}"`;
    return answerExactly(receipt, headers, { etag, "content-type": "application/jwt" });
  }

  /** As `GET /v1/requests/:id/effective-payload` answers. */
  async showPayload(entry: LedgerEntry | null, headers: Headers): Promise<Response> {
    if (entry === null) return problem(unknownRequest());
    const text = approvedText(entry.approval);
    if (isRefusal(text)) return problem(text);
    const { base64 } = await digestOf(text);
    const told = { etag: `"${base64}"`, "repr-digest": `sha-256=:${base64}:` };
    return answerExactly(text, headers, told);
  }

  /** As `GET /.well-known/jwks.json` answers. */
  async showKeySet(): Promise<Response> {
    const { x, kid } = await this.#provide();
    const key = { kty: "OKP", crv: "Ed25519", x, kid, use: "sig", iat: 0 };
    const body = JSON.stringify({ keys: [key], revoked: [] });
    return answered(200, body, { "cache-control": "public, max-age=3600" });
  }

  async #sign(claims: string): Promise<string> {
    const { privateKey, kid } = await this.#provide();
    const parts = [JSON.stringify(receiptHeader(kid)), claims].map((part) => encoder.encode(part));
    const signed = parts.map(toBase64Url).join(".");
    const signature = await crypto.subtle.sign("Ed25519", privateKey, encoder.encode(signed));
    return `${signed}.${toBase64Url(new Uint8Array(signature))}`;
  }

  #provide(): Promise<SigningPair> {
    this.#pair ??= makePair();
    return this.#pair;
  }
}

async function makePair() {
  const made = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  if (!("privateKey" in made)) throw new Error("a pair of keys has no private one");
  const { privateKey, publicKey } = made;
  const x = toBase64Url(new Uint8Array(await crypto.subtle.exportKey("raw", publicKey)));
  const kid = (await digestOf(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)).digest;
  return { privateKey, x, kid };
}

/** Nothing on the way may change a byte. */
function answerExactly(
  body: string,
  headers: Headers,
  { etag, ...told }: Record<string, string> & { etag: string },
): Response {
  const common = { etag, "cache-control": "private, no-cache, no-transform" };
  return hasTag(headers, etag)
    ? answered(304, null, common)
    : answered(200, body, { ...common, ...told });
}

async function factsOf(approval: Approval): Promise<DecisionFacts | null> {
  const { id, state, payload } = approval;
  if (state.kind !== "APPROVED" && state.kind !== "REJECTED") return null;
  const edit = state.kind === "APPROVED" ? state.edit : null;
  return {
    workspaceId: fakeWorkspaceId,
    approvalId: id,
    eventId: `evt_${id.slice("req_".length)}`,
    decision: state.kind === "APPROVED" ? "approved" : "rejected",
    at: state.at,
    byEmail: state.byEmail,
    audience: approval.audience,
    validHours,
    needsSignature: false,
    approverLimit: null,
    payload: await digestOrNull(payload),
    edit: await digestOrNull(edit),
    voting: votingOf(approval),
    evidence: [],
    logOrigin: null,
  };
}

function votingOf({ voting, state }: Approval): DecisionFacts["voting"] {
  if (voting === null) return null;
  const { revision, stages } = JSON.parse(voting) as Approvals;
  const verdict = state.kind === "APPROVED" ? "approve" : "reject";
  const votes = stages
    .flatMap((stage) => stage.votes)
    .filter((vote) => vote.revision === revision && vote.verdict === verdict)
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return {
    revision,
    stages: stages.map(({ required }) => required),
    votes: votes.map((vote) => ({
      voter: personOf(vote.email),
      email: vote.email,
      forEmail: vote.for,
      at: new Date(vote.at),
    })),
  };
}

async function digestOrNull(text: JsonText | null): Promise<Digested | null> {
  return text === null ? null : digestOf(text);
}

async function digestOf(text: string): Promise<Digested & { base64: string }> {
  const bytes = encoder.encode(text);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return { digest: toBase64Url(digest), bytes: bytes.length, base64: toBase64(digest) };
}

function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
