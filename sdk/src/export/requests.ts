// Today's requests of an export, held against what the log says of them: status, bytes, people, time, and the receipt.
// Keeps a line for each request, however large its payload is.

import { type Bytes, toBase64Url } from "../proof/bytes.ts";
import { type ReceiptClaims, readClaims } from "../proof/claims.ts";
import { hashAt } from "../proof/hashing.ts";
import { readJws } from "../proof/jws.ts";
import { ShapeError } from "../proof/members.ts";
import { Messages } from "../proof/messages.ts";
import { ReceiptError } from "../proof/receipt-flaw.ts";
import type { Deletions, ExportFile, RequestLine } from "./file.ts";
import type { Findings } from "./findings.ts";
import type { ExportTools } from "./tools.ts";

/** In the order in which differences are named. */
type Summary = {
  status: string;
  payload: string | null;
  effective: string | null;
  resolvedAt: string | null;
  by: string;
};

type Known = {
  row: Summary | null;
  /** Of the claims that the log has, too. */
  receipt: string | null;
  fact: Partial<Summary> | null;
  decision: string | null;
  /** Of its newest entry. */
  index: number;
  /** What its creation's entry says. */
  created: string | null;
  /** The entry of its outcome. */
  ended: { index: number; said: string } | null;
};

/** The facts that end a request, and its status after. There is one of them at most. */
export const outcomes: Record<string, string> = {
  "request.approved": "APPROVED",
  "request.rejected": "REJECTED",
  "request.expired": "EXPIRED",
  "request.cancelled": "CANCELLED",
};

export type FactOfRequest = {
  kind: string;
  id: string;
  request: string;
  index: number;
  /** The same for the same fact. */
  said: string;
  /** Parsed, for decisions and creations. */
  fact: Record<string, unknown> | null;
};

type ReadReceipt = {
  known: Known;
  id: string;
  claims: Bytes;
  isSigned: boolean | Promise<boolean>;
};

/** Receipts of some rows, and whether each is signed. */
type Verifying = { receipts: readonly ReadReceipt[]; areSigned: Promise<boolean[]> };

const nothingVerifying: Verifying = { receipts: [], areSigned: Promise.resolve([]) };

export class CheckedRequests {
  rows = 0;
  receipts = 0;
  #verifying = nothingVerifying;
  readonly #known = new Map<string, Known>();
  readonly #findings: Findings;
  readonly #tools: ExportTools;
  readonly #file: ExportFile;

  constructor(parts: { file: ExportFile; findings: Findings; tools: ExportTools }) {
    this.#file = parts.file;
    this.#findings = parts.findings;
    this.#tools = parts.tools;
  }

  /** Signatures are verified while the caller reads the next rows. `finishRows` waits for the last. */
  async addRows(lines: readonly RequestLine[]): Promise<void> {
    const texts = lines.flatMap(({ payload, effective }) => [payload, effective]);
    const digests = await this.#digests(texts);
    const receipts = lines.flatMap((line, at) => {
      const [payload = null, effective = null] = digests.slice(2 * at, 2 * at + 2);
      const known = this.#addRow(line, { payload, effective });
      return line.receipt === null ? [] : (this.#readReceipt(known, line.receipt, line.id) ?? []);
    });
    const before = this.#verifying;
    this.#verifying = {
      receipts,
      areSigned: Promise.all(receipts.map(({ isSigned }) => isSigned)),
    };
    // A failure is told when the caller comes to these rows, and until then nobody waits for it.
    this.#verifying.areSigned.catch(() => undefined);
    await this.#checkReceipts(before);
  }

  async finishRows(): Promise<void> {
    await this.#checkReceipts(this.#verifying);
    this.#verifying = nothingVerifying;
  }

  #addRow(
    { id, status, resolvedAt, by }: RequestLine,
    digests: Pick<Summary, "payload" | "effective">,
  ): Known {
    this.rows += 1;
    const known = this.#knownOf(id);
    if (known.row !== null)
      this.#findings.add("line_malformed", `${id} is in the export twice`, { request: id });
    known.row = { status, ...digests, resolvedAt, by: listed(by) };
    return known;
  }

  /** The entries of one log, in their order. */
  async addFacts(facts: readonly FactOfRequest[], origin: string): Promise<void> {
    const decisions: { known: Known; text: string }[] = [];
    for (const { kind, id, request, index, said, fact } of facts) {
      const known = this.#knownOf(request);
      known.fact ??= { status: "PENDING" };
      if (this.#isRepeated(known, { kind, request, index, said, origin })) continue;
      known.index = index;
      if (fact === null) continue;
      try {
        const text = readFact(known, { kind, id, fact });
        if (text !== null) decisions.push({ known, text });
      } catch (error) {
        // Only a forger writes facts of another shape.
        if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
        const message = `the fact of entry ${index} can't be read`;
        this.#findings.add("entry_malformed", message, { index, request });
      }
    }
    const digests = await this.#digests(decisions.map(({ text }) => text));
    decisions.forEach(({ known }, at) => {
      known.decision = shared(digests[at] ?? null, known.receipt);
    });
  }

  /** Nothing can be created or end twice. What the log said first counts, and saying the same again changes nothing. */
  #isRepeated(
    known: Known,
    { kind, request, index, said, origin }: Omit<FactOfRequest, "id" | "fact"> & { origin: string },
  ): boolean {
    const status = Object.hasOwn(outcomes, kind) ? outcomes[kind] : undefined;
    const { created, ended, fact } = known;
    const place = { origin, index, request };
    if (kind === "request.created") {
      known.created ??= said;
      if (created !== null && created !== said)
        this.#findings.add("creation_twice", `entry ${index} creates ${request} again`, place);
      return created !== null;
    }
    if (status === undefined || fact === null) return false;
    if (ended === null) {
      fact.status = status;
      known.ended = { index, said };
      return false;
    }
    if (ended.said !== said) {
      const message = `${request} is ${fact.status} by entry ${ended.index}, and ${status} by entry ${index}: a request ends once`;
      this.#findings.add("outcome_twice", message, place);
    }
    return true;
  }

  /** Requests that retention took away, and how many were there `before` the log was opened. */
  check({
    deleted,
    saidDeleted,
    before,
  }: Pick<Deletions, "deleted" | "saidDeleted"> & { before: number }): void {
    let [unknown, missing] = [0, 0];
    for (const [id, known] of this.#known) {
      if (deleted.has(id)) this.#refuseKept(id, known, "log");
      else if (saidDeleted.has(id)) this.#refuseKept(id, known, "export");
      else if (known.row === null) missing += this.#isExcused(id, known) ? 1 : 0;
      else if (known.created !== null || known.ended !== null) this.#compare(id, known);
      // A request from before the log may still be opened or redeemed.
      else unknown += 1;
    }
    const { later = 0, requests = this.rows } = this.#file.end ?? {};
    if (requests !== this.rows) {
      this.#findings.add(
        "request_missing",
        `the export was written with ${requests} requests, and ${this.rows} are here`,
      );
    }
    if (later > 0) {
      this.#findings.notes.push(
        `${later} requests changed after the newest checkpoint and are not in this file: nothing is said about them. Export again`,
      );
    }
    if (missing > later) {
      this.#findings.add(
        "request_missing",
        `the log has ${missing} requests that the export doesn't have, and only ${later} have changed since`,
      );
    }
    if (unknown > 0) {
      this.#findings.notes.push(
        `${unknown} requests are older than the log: nothing is said about them`,
      );
    }
    if (unknown > before) {
      this.#findings.add(
        "request_unknown",
        `${unknown} requests are not in the log, and only ${before} are older than it`,
      );
    }
  }

  /** Retention leaves nothing that could be read. */
  #refuseKept(id: string, { row, index }: Known, whose: "log" | "export"): void {
    const [what, place] =
      row === null
        ? [`and entry ${index} of it can still be read`, { request: id, index }]
        : ["and it is still in the export", { request: id }];
    this.#findings.add(
      "deletion_differs",
      `the ${whose} says that ${id} was deleted, ${what}`,
      place,
    );
  }

  /** Only what still waits can have changed since: what the log has ended stays as it is. */
  #isExcused(id: string, { fact, index }: Known): boolean {
    if (fact?.status === "PENDING") return true;
    const message = `the log says that ${id} is ${fact?.status}, and the export doesn't have it`;
    this.#findings.add("request_missing", message, { request: id, index });
    return false;
  }

  #compare(id: string, { row, fact, receipt, decision, index }: Known): void {
    const place = { request: id, index };
    const said: Summary = { ...emptyOf(row as Summary), ...fact } as Summary;
    for (const name of Object.keys(said) as (keyof Summary)[]) {
      if (said[name] === row?.[name]) continue;
      const message = `${id}: ${name} is ${row?.[name]} today, and the log says ${said[name]}`;
      this.#findings.add("request_differs", message, place);
      break;
    }
    if (receipt !== null && receipt !== decision) {
      const message = `the receipt of ${id} doesn't say what entry ${index} says`;
      this.#findings.add("receipt_differs", message, place);
    }
  }

  /** Null if it is none. */
  #readReceipt(known: Known, receipt: string, id: string): ReadReceipt | null {
    this.receipts += 1;
    try {
      const { kid, claims, signed, signature } = readJws(receipt, "countersign-receipt+jwt");
      const key = this.#file.keys.find((each) => each.kid === kid);
      const isSigned = key !== undefined && this.#tools.isSigned(key.publicKey, signed, signature);
      return { known, id, claims, isSigned };
    } catch (error) {
      this.#refuseReceipt(id, error);
      return null;
    }
  }

  async #checkReceipts({ receipts, areSigned }: Verifying): Promise<void> {
    const isSigned = await areSigned;
    const texts = receipts.map(({ id, claims }, at) => {
      if (isSigned[at]) return this.#readClaims(id, claims);
      const message = `the receipt of ${id} is signed by no key of the history`;
      this.#findings.add("receipt_invalid", message, { request: id });
      return null;
    });
    const digests = await this.#digests(texts);
    receipts.forEach(({ known }, at) => {
      known.receipt = digests[at] ?? null;
    });
  }

  /** What the log must say, too. Null if they can't be read. */
  #readClaims(id: string, bytes: Bytes): string | null {
    try {
      const claims = readClaims(bytes);
      return claims.sub === id ? textOfClaims(claims) : `of ${claims.sub}`;
    } catch (error) {
      this.#refuseReceipt(id, error);
      return null;
    }
  }

  #refuseReceipt(id: string, error: unknown): void {
    if (!(error instanceof ShapeError) && !(error instanceof ReceiptError)) throw error;
    const message = `the receipt of ${id}: ${error.message}`;
    this.#findings.add("receipt_invalid", message, { request: id });
  }

  /** SHA-256 in base64url. A payload that nobody edited is there twice, and hashed once. */
  async #digests(texts: readonly (string | null)[]): Promise<(string | null)[]> {
    const messages = new Messages(texts.reduce((sum, text) => sum + (text?.length ?? 0), 0));
    const places = texts.map((text, at) => {
      if (text !== null && (at === 0 || text !== texts[at - 1])) messages.addText(text).end();
      return text === null ? null : messages.count - 1;
    });
    const hashes = await this.#tools.hashMany(messages);
    const digests = Array.from({ length: messages.count }, (_, at) =>
      toBase64Url(hashAt(hashes, at)),
    );
    return places.map((place) => (place === null ? null : (digests[place] ?? null)));
  }

  #knownOf(id: string): Known {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const made: Known = {
      ...{ row: null, receipt: null, fact: null, decision: null, index: 0 },
      ...{ created: null, ended: null },
    };
    this.#known.set(id, made);
    return made;
  }
}

/** What the log doesn't say counts as it is: a request may be older than the log, and expire by itself. */
function emptyOf(row: Summary): Summary {
  const isDecided = row.status === "APPROVED" || row.status === "REJECTED";
  return isDecided ? { ...row, effective: null, resolvedAt: null, by: "" } : { ...row };
}

/** The text of a decision; null if it is none. */
function readFact(
  known: Known,
  { kind, id, fact }: { kind: string; id: string; fact: Record<string, unknown> },
): string | null {
  const own = known.fact ?? {};
  // As it was created: nobody may change it until it is decided.
  if (own.payload === undefined) own.payload = shared(digestIn(fact.payload), known.row?.payload);
  if (kind !== "request.approved" && kind !== "request.rejected") return null;
  own.effective = shared(digestIn(fact.effective), known.row?.effective);
  own.resolvedAt = shared(String(fact.at), known.row?.resolvedAt);
  const emails = (fact.votes as { email: string }[]).map(({ email }) => email);
  own.by = shared(listed(emails), known.row?.by);
  return textOfFact(fact, id);
}

/** The same text from the row, so that what agrees is kept once. */
function shared<Text extends string | null>(text: Text, other: string | null | undefined): Text {
  return text === other ? (other as Text) : text;
}

function listed(emails: readonly string[]): string {
  return emails.toSorted().join(" ");
}

function digestIn(value: unknown): string | null {
  return (value as { digest?: string | null } | null | undefined)?.digest ?? null;
}

/** Of claims and of a fact the same text, if they say the same. */
function textOfClaims(claims: ReceiptClaims): string {
  const { payload, effective, policy, shown, by } = claims;
  return JSON.stringify([
    ...[claims.decision, claims.sub, claims.jti, claims.iat, claims.edited],
    ...[payload.digest, effective?.digest ?? null],
    ...[policy.required, policy.stages, policy.signature],
    by.map((vote) => [
      ...[vote.email, vote.at, vote.for ?? null, vote.amr],
      ...[vote.cred ?? null, vote.assertion?.statement ?? null],
    ]),
    shown?.digest ?? null,
  ]);
}

type VoteFact = {
  email: string;
  at: string;
  for: string | null;
  evidence: {
    amr: string[];
    shown: { digest: string };
    signed: { credential: string; statement: string } | null;
  } | null;
};

function textOfFact(fact: Record<string, unknown>, id: string): string {
  const policy = fact.policy as { required: number; stages: number[]; signature?: boolean };
  const votes = fact.votes as VoteFact[];
  return JSON.stringify([
    String(fact.kind).slice("request.".length),
    ...[fact.request, id, Math.floor(Date.parse(String(fact.at)) / 1_000), fact.edited],
    ...[digestIn(fact.payload), digestIn(fact.effective)],
    ...[policy.required, policy.stages, policy.signature === true],
    votes.map(({ email, at, for: replaced, evidence }) => [
      ...[email, at, replaced, evidence?.amr ?? []],
      ...[evidence?.signed?.credential ?? null, evidence?.signed?.statement ?? null],
    ]),
    votes.at(-1)?.evidence?.shown.digest ?? null,
  ]);
}
