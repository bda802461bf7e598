// countersign sign-in-link: lets in a member who can't reach their mailbox.

import { Command } from "commander";
import { signInUrlOf } from "../domain/access/sign-in.ts";
import { signInLinkHours } from "../domain/limits.ts";
import { refuse } from "../domain/refusal.ts";
import { makeSignInLink } from "../operations/people/sign-in.ts";
import * as people from "../storage/people/people.ts";
import { requireSecretKeys } from "../storage/secret-keys.ts";
import { onStore, type ReadCommandConfig } from "./command.ts";

export function signInLinkCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("sign-in-link")
      .description("make a link that signs a member in to the dashboard, once")
      .requiredOption("--email <address>", "whom"),
    readConfig,
    {
      run: async (store, { email }: { email: string }) => {
        const { db, keyring, config } = store;
        await requireSecretKeys(store);
        if ((await people.findFirstMembership(db, email)) === null) {
          return refuse(
            "not_found",
            `${email} is a member of no workspace; add them first: countersign member add --help`,
          );
        }
        return { url: signInUrlOf(config.publicUrl, await makeSignInLink(db, keyring, email)) };
      },
      toJson: ({ url }) => ({ url }),
      toText: ({ url }) =>
        `${url}\nIt works once, within ${signInLinkHours} hours. Pass it on with care.`,
    },
  );
}
