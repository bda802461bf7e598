// Logs in the database as a test wants them: grown entry by entry and signed, or changed as nobody may.

import { randomBytes } from "node:crypto";
import { type Database, inTransaction, type Transaction } from "../src/database/database.ts";
import {
  checkpointBody,
  ed25519,
  signNote,
  type VerifierKey,
  verifierKey,
} from "../src/domain/proof/note.ts";
import { append, emptyFrontier, leafHash, rootOf } from "../src/domain/proof/tree.ts";
import { currentSigner } from "../src/operations/proof/signing-keys.ts";
import { testKeyring, testPublicUrl } from "./test-service.ts";

const base = testPublicUrl.replace("https://", "");

function factOf(entry: string): string {
  return JSON.stringify({ kind: "test", entry });
}

/** A log of a workspace, or of the installation for null, whose rows are there. */
export class LogRows {
  readonly origin: string;
  readonly #db: Database;
  readonly #owner: string;
  #frontier = emptyFrontier;
  #treeId: number | null = null;

  constructor(db: Database, workspaceId: string | null, suffix = "") {
    this.#db = db;
    this.#owner = workspaceId ?? "";
    this.origin = `${base}/log${workspaceId === null ? "" : `/${workspaceId}`}${suffix}`;
  }

  get size(): number {
    return this.#frontier.size;
  }

  get treeId(): number {
    if (this.#treeId === null) throw new Error("nothing was added yet");
    return this.#treeId;
  }

  async key(): Promise<VerifierKey> {
    return verifierKey(this.origin, ed25519, (await this.#signer()).publicKey);
  }

  async #signer() {
    const signer = await currentSigner(this.#db, testKeyring);
    if (signer === null) throw new Error("there is no signer");
    return signer;
  }

  /** Adds entries, and a checkpoint after them. Answers its note. */
  grow(...entries: string[]): Promise<string> {
    return this.add(entries.map((entry) => ({ entry, approvalId: null, fact: factOf(entry) })));
  }

  async add(
    added: readonly { entry: string; approvalId: string | null; fact: string }[],
  ): Promise<string> {
    const entries = added.map(({ entry }) => entry);
    const leaves = entries.map((entry) => leafHash(Buffer.from(entry)));
    const { frontier, full } = append(this.#frontier, leaves);
    const root = rootOf(frontier);
    const signer = await this.#signer();
    const body = checkpointBody({ origin: this.origin, size: frontier.size, root });
    const note = signNote(body, this.origin, signer);
    await inTransaction(this.#db, async (tx) => {
      this.#treeId ??= await this.#open(tx);
      await tx.query(
        `with entry as (
           insert into log_entries (tree_id, index, entry, leaf_hash)
           select $1, $2 + n - 1, entry, leaf_hash
           from unnest($3::text[], $4::bytea[]) with ordinality as given (entry, leaf_hash, n)
         )
         insert into log_openings (tree_id, index, subject, approval_id, salt, fact)
         select $1, $2 + n - 1, 'subject_' || n, approval_id, $7, fact
         from unnest($5::text[], $6::text[]) with ordinality as given (approval_id, fact, n)`,
        [
          this.#treeId,
          this.#frontier.size,
          entries,
          leaves,
          added.map(({ approvalId }) => approvalId),
          added.map(({ fact }) => fact),
          randomBytes(32),
        ],
      );
      for (const { level, index, hash } of full) {
        await tx.query(
          "insert into log_nodes (tree_id, level, index, hash) values ($1, $2, $3, $4)",
          [this.#treeId, level, index, hash],
        );
      }
      await tx.query("update log_trees set size = $2, root = $3 where id = $1", [
        this.#treeId,
        frontier.size,
        root,
      ]);
      await tx.query(
        "insert into log_checkpoints (tree_id, size, note, signing_key_id) values ($1, $2, $3, $4)",
        [this.#treeId, frontier.size, note, signer.id],
      );
    });
    this.#frontier = frontier;
    return note;
  }

  async #open(tx: Transaction): Promise<number> {
    const { rows } = await tx.query<{ id: number }>(
      "insert into log_trees (workspace_id, origin, home, root) values (nullif($1, ''), $2, '-/-/-', $3) returning id",
      [this.#owner, this.origin, rootOf(emptyFrontier)],
    );
    return (rows[0] as { id: number }).id;
  }

  /** Somebody with the owner's role takes the newest entries out again, as nobody else can. */
  async rollBack(size: number, entries: readonly string[]): Promise<void> {
    const { frontier } = append(
      emptyFrontier,
      entries.slice(0, size).map((entry) => leafHash(Buffer.from(entry))),
    );
    await inTransaction(this.#db, async (tx) => {
      await tx.query("alter table log_trees disable trigger log_trees_only_grow");
      for (const table of ["log_cosignatures", "log_checkpoints"]) {
        await tx.query(`delete from ${table} where tree_id = $1 and size > $2`, [
          this.treeId,
          size,
        ]);
      }
      for (const table of ["log_openings", "log_entries"]) {
        await tx.query(`delete from ${table} where tree_id = $1 and index >= $2`, [
          this.treeId,
          size,
        ]);
      }
      await tx.query("update log_trees set size = $2, root = $3 where id = $1", [
        this.treeId,
        size,
        rootOf(frontier),
      ]);
      await tx.query("alter table log_trees enable trigger log_trees_only_grow");
    });
    this.#frontier = frontier;
  }
}
