// countersign webhook …

import { Command } from "commander";
import { makeAddressPolicy } from "../domain/access/network-address.ts";
import { endpointKinds, isEndpointKind } from "../domain/approval/event.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { isRefusal } from "../domain/refusal.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import {
  changeEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  registerEndpoint,
  rotateEndpointSecret,
} from "../operations/deliveries/manage-endpoint.ts";
import { sendTestEvent } from "../operations/deliveries/resend-delivery.ts";
import { examineWebhookUrl } from "../outbound/resolve-host.ts";
import * as endpoints from "../storage/deliveries/endpoints.ts";
import { requireSecretKeys } from "../storage/secret-keys.ts";
import { onStore, type Printed, type ReadCommandConfig, several, table } from "./command.ts";
import { deliveryToJson, describeLast, watchDelivery } from "./delivery-words.ts";

type CreateFlags = { workspace: string; url: string; name?: string; event?: string[] };

export function webhookCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("webhook").description("register and manage webhook endpoints");
  command.addCommand(
    onStore(
      new Command("create")
        .description("register an endpoint; its secret is shown once")
        .requiredOption("--workspace <id>", "the workspace whose events it gets")
        .requiredOption("--url <url>", "where events are POSTed")
        .option("--name <name>", "what people read beside the URL")
        .option(
          "--event <kind>",
          `only this kind; may be repeated (${endpointKinds.join(", ")})`,
          several,
        ),
      readConfig,
      {
        run: async (store, { workspace, url, name, event }: CreateFlags) => {
          await requireSecretKeys(store);
          const policy = makeAddressPolicy(store.config.webhookAllowed);
          return registerEndpoint(store.db, store.keyring, {
            workspaceId: workspace,
            name,
            url,
            eventKinds: event === undefined ? null : event.map(toEventKind),
            examineAddress: (given) => examineWebhookUrl(given, policy),
          });
        },
        toJson: (endpoint) => ({ id: endpoint.id, secret: endpoint.secret, ...toJson(endpoint) }),
        toText: (endpoint) =>
          `${endpoint.secret}\nThis is the signing secret of ${endpoint.id}. It is shown this once; keep it.`,
      },
    ),
  );
  command.addCommand(listCommand(readConfig));
  command.addCommand(
    onStore(
      new Command("enable").description("send events to an endpoint again").argument("<id>"),
      readConfig,
      {
        run: (store, id: string) => enableEndpoint(store.db, id),
        toJson,
        toText: (endpoint) => `Enabled ${endpoint.id}.`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("disable")
        .description("stop sending; events are kept as skipped and can be sent later")
        .argument("<id>")
        .option("--reason <text>", "shown beside it", "disabled by an operator"),
      readConfig,
      {
        run: (store, id: string, flags: { reason: string }) =>
          disableEndpoint(store.db, id, flags.reason),
        toJson,
        toText: (endpoint) => `Disabled ${endpoint.id}.`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("rotate")
        .description("give an endpoint a new secret; the old one signs beside it for a day")
        .argument("<id>"),
      readConfig,
      {
        run: async (store, id: string) => {
          await requireSecretKeys(store);
          return rotateEndpointSecret(store.db, store.keyring, id);
        },
        toJson: (endpoint) => ({
          id: endpoint.id,
          secret: endpoint.secret,
          ...toJson(endpoint),
          oldSecretEndsAt: endpoint.oldSecretEndsAt,
        }),
        toText: (endpoint) =>
          `${endpoint.secret}\nThe old secret of ${endpoint.id} signs beside it until ${endpoint.oldSecretEndsAt.toISOString()}.`,
      },
    ),
  );
  command.addCommand(testCommand(readConfig));
  command.addCommand(renameCommand(readConfig));
  command.addCommand(deleteCommand(readConfig));
  return command;
}

function testCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("test")
      .description("send an endpoint a signed test event (webhook.test), and show how it went")
      .argument("<id>"),
    readConfig,
    {
      run: async ({ db }, id: string) => {
        const sent = await sendTestEvent(db, id);
        return isRefusal(sent) ? sent : watchDelivery(db, sent.deliveryId);
      },
      toJson: deliveryToJson,
      toText: (delivery) =>
        delivery.attempts === 0
          ? `The test event ${delivery.id} will be sent as soon as a worker runs (countersign serve).`
          : `Test event ${delivery.id}: ${describeLast(delivery)}. More: countersign delivery show ${delivery.id}`,
    },
  );
}

function renameCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("rename")
      .description("give an endpoint a name, or take it away with an empty one")
      .argument("<id>")
      .argument("<name>"),
    readConfig,
    {
      run: (store, id: string, name: string) => {
        const given = name === "" ? null : name;
        return changeEndpoint(store.db, { id, name: given, examineAddress: async () => null });
      },
      toJson,
      toText: ({ id, name }) =>
        name === null ? `${id} has no name now.` : `${id} is called ${toTerminalText(name)} now.`,
    },
  );
}

function deleteCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("delete")
      .description("delete an endpoint and its secret; its deliveries stay readable")
      .argument("<id>"),
    readConfig,
    {
      run: (store, id: string) => deleteEndpoint(store.db, id),
      toJson,
      toText: (endpoint) => `Deleted ${endpoint.id}. Nothing more is sent to it.`,
    },
  );
}

function listCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("list")
      .description("list webhook endpoints")
      .option("--workspace <id>", "only this workspace's"),
    readConfig,
    {
      run: (store, flags: { workspace?: string }) =>
        endpoints.list(store.db, flags.workspace ?? null),
      toJson: (found) => found.map(toJson),
      toText: (found) =>
        table(
          ["ID", "WORKSPACE", "NAME", "URL", "EVENTS", "STATE"],
          found.map((endpoint) => [
            endpoint.id,
            endpoint.workspaceId,
            endpoint.name ?? "",
            endpoint.url,
            endpoint.eventKinds?.join(",") ?? "all",
            stateOf(endpoint),
          ]),
          "No endpoints yet. Register one: countersign webhook create --workspace ws_… --url https://…",
        ),
    },
  );
}

function toEventKind(text: string) {
  if (isEndpointKind(text)) return text;
  throw new OperatorFault(`${text} is not an event kind; use ${endpointKinds.join(", ")}`);
}

function stateOf({ disabledReason, failingSince }: endpoints.Endpoint): string {
  if (disabledReason !== null) return `disabled: ${disabledReason}`;
  return failingSince === null ? "enabled" : `failing since ${failingSince.toISOString()}`;
}

function toJson(endpoint: endpoints.Endpoint): Printed {
  const { id, workspaceId, name, url, eventKinds: events, createdAt } = endpoint;
  const { disabledAt, disabledReason, failingSince, deletedAt } = endpoint;
  return {
    ...{ id, workspaceId, ...(name === null ? {} : { name }), url, events, createdAt },
    ...{ disabledAt, disabledReason, failingSince, ...(deletedAt === null ? {} : { deletedAt }) },
  };
}
