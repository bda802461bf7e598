// The endpoint of `countersign listen`: registered when it first listens, turned on while it does, and off afterwards. It
// keeps its secret, so that a developer who listens every day has one endpoint and not hundreds.

import type { Database } from "../../database/database.ts";
import { findSecretKey, type Keyring } from "../../domain/access/keyring.ts";
import { unseal } from "../../domain/access/sealed-secret.ts";
import { type ChangeRefusal, isRefusal, refuse } from "../../domain/refusal.ts";
import * as endpoints from "../../storage/deliveries/endpoints.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";
import {
  type ExamineAddress,
  enableEndpoint,
  registerEndpoint,
  secretRecordOf,
} from "./manage-endpoint.ts";

export type LocalEndpoint = { id: string; workspaceId: string; secrets: string[] };

export type LocalListener = {
  /** Null is the only one there is. */
  workspaceId: string | null;
  url: string;
  examineAddress: ExamineAddress;
};

export async function openLocalEndpoint(
  db: Database,
  keyring: Keyring,
  { workspaceId: wanted, url, examineAddress }: LocalListener,
): Promise<LocalEndpoint | ChangeRefusal> {
  const workspaceId = wanted ?? (await findOnlyWorkspace(db));
  if (isRefusal(workspaceId)) return workspaceId;
  const known = (await endpoints.list(db, workspaceId)).find((each) => each.url === url);
  if (known === undefined) {
    const eventKinds = null;
    const input = { workspaceId, url, eventKinds, examineAddress };
    const made = await registerEndpoint(db, keyring, input);
    return isRefusal(made) ? made : { id: made.id, workspaceId, secrets: [made.secret] };
  }
  const enabled = await enableEndpoint(db, known.id);
  if (isRefusal(enabled)) return enabled;
  return { id: known.id, workspaceId, secrets: await openSecrets(db, keyring, known) };
}

async function findOnlyWorkspace(db: Database): Promise<string | ChangeRefusal> {
  const [first, second] = await workspaces.list(db);
  if (first !== undefined && second === undefined) return first.id;
  return refuse(
    "not_found",
    first === undefined
      ? "there is no workspace yet; start the service first: npm start"
      : "there are several workspaces; say which with --workspace, as `countersign workspace list` shows them",
  );
}

/** A secret whose key is gone signs nothing either. */
async function openSecrets(
  db: Database,
  keyring: Keyring,
  endpoint: endpoints.Endpoint,
): Promise<string[]> {
  const sealed = await endpoints.listLiveSecrets(db, endpoint);
  return sealed.flatMap(({ secretKeyId, sealed: bytes }) => {
    const key = findSecretKey(keyring, secretKeyId);
    return key === null ? [] : [unseal(key, secretRecordOf(endpoint), bytes)];
  });
}
