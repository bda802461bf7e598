// What is kept as proof of a decision, and the calls that change what others rely on.

import type { KeySet } from "../../../sdk/src/proof/key-set.ts";
import type { FileDownload } from "./dashboard-filters.ts";
import type { Group } from "./dashboard-groups.ts";
import type { ProofSettings, Workspace } from "./dashboard-settings.ts";

/** A passkey that signed a vote. Those that were removed since are not among them. */
export type SigningCredential = { id: string; email: string; publicKey: string };

/** An entry of the log, with what opens it. Fact and salt are empty once its request was deleted. */
export type OpenedLogEntry = { entry: string; fact: string; salt: string };

/** What the log has about a request. Proofs are C2SP tlog-proofs, checkpoints signed notes. */
export type LogPlace = {
  origin: string;
  checkpoint: string;
  entries: (OpenedLogEntry & { index: number })[];
  /** Of the decision. */
  proof: string | null;
  /** The checkpoint in the installation's log; null until it is there. */
  installation: (OpenedLogEntry & { proof: string }) | null;
};

export type RequestProof = {
  credentials: SigningCredential[];
  /** Null while nobody has decided, and while no key can sign it. */
  receipt: string | null;
  /** As `/.well-known/jwks.json` answers it. */
  jwks: KeySet;
  /** Null until a signed checkpoint has the request. */
  log: LogPlace | null;
};

/** Only owners make the changes. What is left out stays as it is. */
export type ProofCalls = {
  /** Owners and admins take the log as a file. */
  "GET /workspaces/:workspaceId/log/export": {
    query: { format: "csv" | "jsonl" };
    answer: FileDownload;
  };
  "GET /workspaces/:workspaceId/requests/:requestId/proof": { answer: RequestProof };
  "POST /workspaces/:workspaceId/proof": { body: Partial<ProofSettings>; answer: Workspace };
  "POST /workspaces/:workspaceId/groups/:groupId/signature": {
    body: { requiresSignature: boolean };
    answer: Group;
  };
};
