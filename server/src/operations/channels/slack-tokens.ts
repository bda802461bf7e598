// Seals and opens the secrets of a connection to Slack. Each opens for its workspace and its purpose alone.

import { randomBytes } from "node:crypto";
import { findSecretKey, type Keyring } from "../../domain/access/keyring.ts";
import { seal, sealRandomBytes, unseal } from "../../domain/access/sealed-secret.ts";
import type { SlackConnection } from "../../storage/channels/slack-connections.ts";

type SecretName = "bot_token" | "app_token" | "signing_secret";

export function sealSlackSecret(
  keyring: Keyring,
  { workspaceId, name, secret }: { workspaceId: string; name: SecretName; secret: string },
): Buffer {
  return seal({
    key: keyring.current,
    record: recordOf(workspaceId, name),
    plaintext: secret,
    random: randomBytes(sealRandomBytes),
  });
}

/** Posts messages. Null when no key of SECRET_KEY opens it. */
export function openBotToken(keyring: Keyring, connection: SlackConnection): string | null {
  return open(keyring, connection, "bot_token", connection.sealedBotToken);
}

/** Opens sockets. Null when there is none, or no key opens it. */
export function openAppToken(keyring: Keyring, connection: SlackConnection): string | null {
  return open(keyring, connection, "app_token", connection.sealedAppToken);
}

/** Signs what Slack sends over HTTP. Null when there is none, or no key opens it. */
export function openSigningSecret(keyring: Keyring, connection: SlackConnection): string | null {
  return open(keyring, connection, "signing_secret", connection.sealedSigningSecret);
}

function open(
  keyring: Keyring,
  { workspaceId, secretKeyId }: SlackConnection,
  name: SecretName,
  sealed: Buffer | null,
): string | null {
  const key = findSecretKey(keyring, secretKeyId);
  if (key === null || sealed === null) return null;
  try {
    return unseal(key, recordOf(workspaceId, name), sealed);
  } catch {
    return null;
  }
}

function recordOf(workspaceId: string, name: SecretName): string {
  return `slack_connections/${workspaceId}/${name}`;
}
