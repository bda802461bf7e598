// Links Slack accounts to people by a code from the inbox, by both transports.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { makeSlackLinkCode } from "../src/operations/channels/person-channels.ts";
import * as slackAccounts from "../src/storage/channels/slack-accounts.ts";
import { FakeSlack, type Reaction } from "./fake-slack/fake-slack.ts";
import type { SlackUser, SlackView } from "./fake-slack/slack-state.ts";
import { seenIn } from "./fake-slack/what-is-seen.ts";
import { hangMs, until } from "./patience.ts";
import { startService, type TestService } from "./test-service.ts";
import {
  connect,
  isReachable,
  modalOf,
  patient,
  startSockets,
  textOf,
  urlOf,
} from "./test-slack.ts";

let slack: FakeSlack;
let node: TestService;
let sockets: ReturnType<typeof startSockets>;

before(async () => {
  slack = await FakeSlack.start({ messageEveryMs: 0, ackMs: hangMs, triggerMs: hangMs });
  node = await startService({ slackApiUrl: slack.apiUrl, slackPatience: patient });
  sockets = startSockets(node, slack);
});

after(async () => {
  await sockets.stop();
  await node.stop();
  await slack.stop();
});

/** As the inbox shows it to somebody who is signed in. */
async function codeFor(email: string): Promise<string> {
  const { rows } = await node.db.query<{ id: string }>(
    `insert into people (email) values ($1) on conflict (lower(email)) do update set email = excluded.email returning id`,
    [email],
  );
  const personId = rows[0]?.id ?? "";
  return (await makeSlackLinkCode(node.db, { personId, email })).code;
}

for (const transport of ["socket", "http"] as const) {
  describe(`by ${transport}`, () => {
    const connected = async () => {
      const world = await connect({ slack, node, transport });
      await isReachable(slack, world.app);
      const { card } = await world.ask();
      /** Presses Approve, and then the button of the private answer. */
      const begin = async (user: SlackUser): Promise<SlackView> => {
        const before = slack.privateAnswers(user).length;
        await slack.click(user, card, "countersign_approve");
        await until(() => slack.privateAnswers(user).length > before);
        const answer = slack.privateAnswers(user).at(-1);
        assert.ok(answer);
        await slack.click(user, answer, "countersign_link");
        return modalOf(slack, user);
      };
      const type = (user: SlackUser, view: SlackView, code: string): Promise<Reaction> =>
        slack.submit(user, view, { code });
      const find = (user: SlackUser) =>
        slackAccounts.find(node.db, {
          ...{ teamId: world.app.teamId, appId: world.app.id, slackUserId: user.id },
        });
      return { ...world, card, begin, type, find };
    };

    test("a code from the inbox links the account that types it, once", async () => {
      const world = await connected();
      const [ann, eve] = [world.person(), world.person()];
      const code = await codeFor("ann@example.com");
      const view = await world.begin(ann);
      const typed = `${code.slice(0, 4).toLowerCase()} ${code.slice(4)}`;
      assert.equal((await world.type(ann, view, typed)).kind, "updated");
      assert.match(textOf(view), /linked to ann@example\.com/);
      view.isOpen = false;
      const account = await world.find(ann);
      assert.deepEqual([account?.email, account?.source], ["ann@example.com", "linked"]);
      // It is theirs from the next click on.
      await slack.click(ann, world.card, "countersign_approve");
      assert.match(textOf(await modalOf(slack, ann)), /The agent will run exactly this payload/);

      const again = await world.type(eve, await world.begin(eve), code);
      assert.equal(again.kind, "errors");
      assert.equal(await world.find(eve), null);
    });

    test("an old code links nothing", async () => {
      const world = await connected();
      const ann = world.person();
      const code = await codeFor("old@example.com");
      await node.db.query("update slack_link_codes set expires_at = now_ms() where email = $1", [
        "old@example.com",
      ]);
      assert.equal((await world.type(ann, await world.begin(ann), code)).kind, "errors");
      assert.equal(await world.find(ann), null);
    });

    test("guesses are few, even with the right code at the end", async () => {
      const world = await connected();
      const eve = world.person();
      const code = await codeFor("ann@example.com");
      const view = await world.begin(eve);
      for (const guess of ["AAAAAAAA", "BBBBBBBB", "", "?", "CCCCCCCC"]) {
        const reaction = await world.type(eve, view, guess === "" ? " " : guess);
        assert.match(JSON.stringify(reaction), /wrong, used up or older/);
      }
      assert.match(JSON.stringify(await world.type(eve, view, code)), /Too many tries/);
      assert.equal(await world.find(eve), null);
    });

    test("a person has one account in a team: the newer replaces the older, and both are told", async () => {
      const world = await connected();
      const [first, second] = [world.person(), world.person()];
      await world.type(first, await world.begin(first), await codeFor("ann@example.com"));
      const view = await world.begin(second);
      await world.type(second, view, await codeFor("ann@example.com"));
      assert.match(textOf(view), /was linked to you before is no longer/);
      assert.equal(await world.find(first), null);
      assert.equal((await world.find(second))?.email, "ann@example.com");
      await until(() => slack.directMessages(world.app, first).length > 0);
      const [told] = slack.directMessages(world.app, first);
      assert.match(seenIn(told?.blocks ?? []).text, /Another Slack account .* was linked to you/);

      // A button of an earlier answer still works, and the account becomes somebody else's.
      view.isOpen = false;
      const [answer] = slack.privateAnswers(second);
      assert.ok(answer);
      await slack.click(second, answer, "countersign_link");
      const again = await modalOf(slack, second);
      await world.type(second, again, await codeFor("bob@example.com"));
      assert.match(textOf(again), /It was linked to ann@example\.com before\./);
    });

    test("guests can't link", async () => {
      const world = await connected();
      const guest = world.person();
      const view = await world.begin(guest);
      guest.isRestricted = true;
      const code = await codeFor("ann@example.com");
      assert.equal((await world.type(guest, view, code)).kind, "updated");
      assert.match(textOf(view), /Guests of a Slack workspace/);
      assert.equal(await world.find(guest), null);
    });
  });
}

/** A workspace whose owner knows the signing secret of its app can send what Slack never sent. */
test("what is forged through one app of a team takes over no link that counts for another app", async () => {
  const theirs = await connect({ slack, node, transport: "socket" });
  const { teamId } = theirs.app;
  const interactionsUrl = await urlOf(node);
  const app = slack.createApp({ teamId, interactionsUrl });
  const evil = await connect({ slack, node, transport: "http" }, { app });
  const cfo = await theirs.linked("cfo@example.com");
  const account = { teamId, appId: theirs.app.id, slackUserId: cfo.id };
  const eve = evil.person();
  const { card } = await evil.ask();
  await slack.click(eve, card, "countersign_approve");
  await until(() => slack.privateAnswers(eve).length > 0);
  const [answer] = slack.privateAnswers(eve);
  assert.ok(answer);
  await slack.click(eve, answer, "countersign_link");
  const view = await modalOf(slack, eve);
  const forge = async (email: string) => {
    const payload = slack.submitPayload(eve, view, { code: await codeFor(email) });
    payload.user.id = cfo.id;
    return slack.deliver(app, payload);
  };
  assert.notEqual(await forge("eve@example.com"), null);
  assert.equal((await slackAccounts.find(node.db, account))?.email, "cfo@example.com");
  const { card: asked } = await theirs.ask({ notify: "cfo@example.com" });
  await isReachable(slack, theirs.app);
  await slack.click(cfo, asked, "countersign_approve");
  assert.match(textOf(await modalOf(slack, cfo)), /The agent will run exactly this payload/);
  // Within one app, whose account it is changes hands visibly.
  await forge("mallory@example.com");
  await until(() => slack.directMessages(app, cfo).length > 0);
  const [told] = slack.directMessages(app, cfo);
  assert.match(seenIn(told?.blocks ?? []).text, /was linked to eve@.* is linked to mallory@/);
});
