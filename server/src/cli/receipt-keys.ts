// countersign receipt-key …

import { Command } from "commander";
import type { SigningKey } from "../domain/proof/signing-key.ts";
import {
  listSigningKeys,
  revokeSigningKey,
  rotateSigningKey,
} from "../operations/proof/signing-keys.ts";
import { requireSecretKeys } from "../storage/secret-keys.ts";
import { onStore, type Printed, type ReadCommandConfig, table } from "./command.ts";

export function receiptKeyCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("receipt-key").description(
    "rotate, revoke and list the keys that sign receipts and checkpoints",
  );
  command.addCommand(rotateCommand(readConfig));
  command.addCommand(revokeCommand(readConfig));
  command.addCommand(listCommand(readConfig));
  return command;
}

function rotateCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("rotate").description(
      "make a new key; what the old one signed stays valid, because the key set keeps it",
    ),
    readConfig,
    {
      run: async (store) => {
        await requireSecretKeys(store);
        return rotateSigningKey(store.db, store.keyring);
      },
      toJson: ({ current, retired }) => ({
        current: toJson(current),
        retired: retired === null ? null : toJson(retired),
      }),
      toText: ({ current, retired }) =>
        retired === null
          ? `Made ${current.id}, which signs from now on.`
          : `${current.id} signs from now on. ${retired.id} is retired: what it signed stays valid. Witnesses need the log's new key: countersign log status`,
    },
  );
}

function revokeCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("revoke")
      .description(
        "revoke a key that somebody else may have: no receipt that it signed counts any more",
      )
      .argument("<id>", "its thumbprint, as `receipt-key list` shows"),
    readConfig,
    {
      run: async (store, id: string) => {
        await requireSecretKeys(store);
        return revokeSigningKey(store.db, store.keyring, id);
      },
      toJson: ({ revoked, current }) => ({
        revoked: toJson(revoked),
        current: current === null ? null : toJson(current),
      }),
      toText: ({ revoked, current }) =>
        `Revoked ${revoked.id}. Its receipts are signed anew when they are next read; verifiers hear of it within an hour.${current === null ? "" : ` ${current.id} signs from now on.`}`,
    },
  );
}

function listCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("list").description("list the keys, newest first, with their public halves"),
    readConfig,
    {
      run: ({ db }) => listSigningKeys(db),
      toJson: (keys) => keys.map(toJson),
      toText: (keys) =>
        table(
          ["ID", "PUBLIC KEY", "CREATED", "RETIRED", "REVOKED"],
          keys.map((key) => [
            key.id,
            key.publicKey.toString("base64url"),
            key.createdAt.toISOString(),
            key.retiredAt?.toISOString() ?? "",
            key.revokedAt?.toISOString() ?? "",
          ]),
          "No key yet. The first decision that is read or sent makes one.",
        ),
    },
  );
}

function toJson({ id, publicKey, createdAt, retiredAt, revokedAt }: SigningKey): Printed {
  return { id, publicKey: publicKey.toString("base64url"), createdAt, retiredAt, revokedAt };
}
