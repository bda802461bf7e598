// Creates an approval together with its event, its reviewers and its deliveries, or not at all.

import { createHash } from "node:crypto";
import { type Database, inOneStatement } from "../../database/database.ts";
import { NotReplicated } from "../../database/database-client.ts";
import { isConflictOn, isDeadlock, isRefusedByData, isTurnedAway } from "../../database/faults.ts";
import { gather } from "../../database/gathering.ts";
import { currentHolder } from "../../database/holder.ts";
import { isUndone } from "../../database/short-outage.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import type { Approval } from "../../domain/approval/approval.ts";
import type { NewApproval } from "../../domain/approval/new-approval.ts";
import {
  gatheredCreateBytesMax,
  largeStatementsMax,
  largeStatementsPerHolderMax,
} from "../../domain/limits.ts";
import type { Recorder } from "../../domain/recorder.ts";
import { isRefusal, type Refusal, refuse } from "../../domain/refusal.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import * as creation from "../../storage/approvals/approval-creation.ts";
import * as approvals from "../../storage/approvals/approvals.ts";
import * as groups from "../../storage/people/groups.ts";
import { findReplicated } from "../find-replicated.ts";
import { newReviewer } from "../votings/new-reviewer.ts";
import { type Asked, askedGroup, groupIdsOf } from "./asked-group.ts";
import { type CarefulRow, createWithCare, needsCare } from "./create-with-care.ts";
import { findWithExpiryIn } from "./expire-approvals.ts";
import { unknownKey } from "./unknown-key.ts";

export type CreateInput = {
  keyDigest: Buffer;
  approval: NewApproval;
  body: Uint8Array;
  idempotencyKey: string | null;
};

export type Created = { workspaceId: string; approval: Approval; isReplay: boolean };

export type CreateApproval = (input: CreateInput) => Promise<Created | Refusal>;

/** The most retries of a batch when another node takes one of its idempotency keys at the same time. */
const conflictRetriesMax = 5;

export type CreateParts = {
  db: Database;
  keyring: Keyring;
  /** Called after each commit, because approvers and endpoints are to be told. */
  onDue: () => void;
  recorder?: Recorder | null;
};

export function makeCreateApproval(parts: CreateParts): CreateApproval {
  const { db, keyring, onDue, recorder = null } = parts;
  const onBatch =
    recorder === null ? undefined : (items: number) => recorder.gathered("create", items);
  const secretKeyId = keyring.current.id;
  const carryOut = (rows: creation.NewApprovalRow[]) => insertBatch(db, rows, secretKeyId);
  const insertGathered = gather(carryOut, { onBatch });
  const insertAlone = gather(carryOut, {
    itemsMax: 1,
    batchesInFlightMax: largeStatementsMax,
    perHolderMax: largeStatementsPerHolderMax,
  });
  const withCare = async (input: CreateInput) => {
    const created = await retryRaces(() =>
      createWithCare({ db, keyring }, input.approval, toCarefulRow(input)),
    );
    if (isRefusal(created)) return (await findReplay(db, input)) ?? created;
    if (created.result.kind === "created") onDue();
    return conclude(db, input, created, created.result);
  };
  return async (input) => {
    if (needsCare(input.approval)) return withCare(input);
    const asked = await findAsked(db, input);
    if (isRefusal(asked)) return (await findReplay(db, input)) ?? asked;
    const row = toRow(input, asked, keyring);
    const isLarge = input.body.length > gatheredCreateBytesMax;
    // A large create keeps its workspace's quota locked until it is written. A small one of the same workspace would
    // wait for it, and so would its whole batch.
    const travelsAlone = isLarge || insertAlone.isBusyFor(currentHolder());
    const result = await (travelsAlone ? insertAlone(row) : insertGathered(row));
    if (result.kind === "needs_care") return withCare(input);
    if (result.kind === "created") onDue();
    return conclude(db, input, { asked, voting: null }, result);
  };
}

async function findAsked(
  db: Database,
  { approval, keyDigest }: CreateInput,
): Promise<Asked | Refusal> {
  if (approval.notify.kind === "address") {
    return { approver: approval.notify, group: null, emails: [approval.notify.email] };
  }
  const { key } = approval.notify;
  const caller = await groups.findOfCaller(db, keyDigest, key);
  return caller === null ? unknownKey() : askedGroup(key, caller);
}

function toRow(
  { approval, body, idempotencyKey, keyDigest }: CreateInput,
  asked: Asked,
  keyring: Keyring,
): creation.NewApprovalRow {
  return {
    ...toCarefulRow({ approval, body, idempotencyKey, keyDigest }),
    approverEmail: asked.approver.kind === "address" ? asked.approver.email : null,
    group: asked.group,
    groupIds: groupIdsOf([asked]),
    reviewers: asked.emails.map((email) => newReviewer(email, keyring)),
    hasSeats: false,
    voting: null,
  };
}

function toCarefulRow({ approval, body, idempotencyKey, keyDigest }: CreateInput): CarefulRow {
  return {
    keyDigest,
    idempotency:
      idempotencyKey === null ? null : { key: idempotencyKey, bodyDigest: digestOf(body) },
    submitted: approval,
    ttlMinutes: approval.ttlMinutes,
    callbackUrl: approval.callbackUrl,
  };
}

/**
 * Inserts a batch. If PostgreSQL refuses it because of a row's content, the rows go one by one, so that one bad row
 * never harms its neighbours.
 */
async function insertBatch(
  db: Database,
  rows: creation.NewApprovalRow[],
  secretKeyId: string,
): Promise<(creation.CreationResult | Promise<creation.CreationResult>)[]> {
  try {
    return await insertRows(db, rows, secretKeyId);
  } catch (error) {
    if (isRefusedByData(error)) return rows.map((row) => insertRow(db, row, secretKeyId));
    if (!isTurnedAway(error) || isUndone(error)) throw error;
    // Nobody knows whether it was done. Those with a key may be asked for again.
    const again = (row: creation.NewApprovalRow) => insertRow(db, row, secretKeyId);
    return rows.map((row) => (row.idempotency === null ? Promise.reject(error) : again(row)));
  }
}

async function insertRow(
  db: Database,
  row: creation.NewApprovalRow,
  secretKeyId: string,
): Promise<creation.CreationResult> {
  const [result] = await insertRows(db, [row], secretKeyId);
  if (result === undefined) throw new Error("the create statement answered no row");
  return result;
}

/**
 * If another statement takes one of our idempotency keys at the same moment, the whole batch is undone. The retry then
 * finds that key.
 */
async function insertRows(
  db: Database,
  rows: creation.NewApprovalRow[],
  secretKeyId: string,
): Promise<creation.CreationResult[]> {
  return retryRaces(() => creation.insertMany(inOneStatement(db), rows, secretKeyId));
}

async function retryRaces<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let retry = 0; ; retry += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isRace(error) || retry >= conflictRetriesMax) throw error;
    }
  }
}

function isRace(error: unknown): boolean {
  return isConflictOn(error, creation.idempotencyIndex) || isDeadlock(error);
}

async function conclude(
  db: Database,
  input: CreateInput,
  { asked, voting }: { asked: Asked; voting: JsonText | null },
  result: creation.CreationResult,
): Promise<Created | Refusal> {
  switch (result.kind) {
    case "unknown_key":
      return unknownKey();
    case "needs_care":
      throw new Error("a create with care needs care");
    case "quota_exceeded":
      // The last of the quota may just have gone to the very request that this one repeats.
      return (await findReplay(db, input)) ?? quotaExceeded(result);
    case "known":
      return replay(db, result);
    case "created": {
      const { workspaceId, id, createdAt, expiresAt } = result;
      const { notify, ttlMinutes, callbackUrl, quorum, then, escalate, ...echoed } = input.approval;
      const state = { kind: "PENDING" } as const;
      const { approver } = asked;
      const created: Approval = { ...echoed, id, approver, createdAt, expiresAt, state, voting };
      return { workspaceId, approval: created, isReplay: false };
    }
    default:
      return result satisfies never;
  }
}

function quotaExceeded(result: { plan: string; monthlyLimit: number }): Refusal {
  return refuse(
    "quota_exceeded",
    `This workspace has used all ${result.monthlyLimit} requests of this month (plan ${result.plan}). It can create requests again on the first of next month (UTC), or after its plan or limit was raised.`,
  );
}

/** An answer given under the same key stands, even if the group is gone or the quota used up by now. */
async function findReplay(db: Database, input: CreateInput): Promise<Created | Refusal | null> {
  if (input.idempotencyKey === null) return null;
  const known = await approvals.findByIdempotencyKey(db, {
    keyDigest: input.keyDigest,
    idempotencyKey: input.idempotencyKey,
    bodyDigest: digestOf(input.body),
  });
  return known === null ? null : replay(db, known);
}

async function replay(
  db: Database,
  known: { workspaceId: string; id: string; isSameBody: boolean },
): Promise<Created | Refusal> {
  if (!known.isSameBody) {
    return refuse(
      "idempotency_key_reused",
      `This Idempotency-Key was used for ${known.id} with another body. Use a new key for a new request, or send the very same body.`,
    );
  }
  const found = await findReplicated(db, (tx) => findWithExpiryIn(tx, known.workspaceId, known.id));
  // The former primary had it.
  if (found === null)
    throw new NotReplicated(`approval ${known.id} vanished while it was replayed`);
  return { workspaceId: known.workspaceId, approval: found.approval, isReplay: true };
}

function digestOf(body: Uint8Array): Buffer {
  return createHash("sha256").update(body).digest();
}
