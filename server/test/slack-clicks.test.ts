// What happens when somebody clicks in Slack: the same guarantees by socket and over HTTP, against a strict fake Slack.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { issueModalTicket, readModalTicket } from "../src/domain/channels/slack-modal-ticket.ts";
import {
  addGroupMember,
  createGroup,
  removeGroupMember,
} from "../src/operations/people/manage-group.ts";
import { FakeSlack } from "./fake-slack/fake-slack.ts";
import type { SlackUser, SlackView } from "./fake-slack/slack-state.ts";
import { hangMs, until } from "./patience.ts";
import { decide, findReviewer } from "./test-review.ts";
import { startService, type TestService, testKeyring } from "./test-service.ts";
import {
  answerOf,
  answersOf,
  connect,
  isReachable,
  modalOf,
  patient,
  startSockets,
  type Transport,
  textOf,
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

async function connected(transport: Transport, settings: Parameters<typeof connect>[1] = {}) {
  const world = await connect({ slack, node, transport }, settings);
  await isReachable(slack, world.app);
  return world;
}

type World = Awaited<ReturnType<typeof connected>>;

async function press(
  user: SlackUser,
  card: Parameters<FakeSlack["click"]>[1],
  verdict = "approve",
) {
  const reaction = await slack.click(user, card, `countersign_${verdict}`);
  assert.deepEqual(reaction, { kind: "acknowledged" });
}

async function opened(user: SlackUser, card: Parameters<FakeSlack["click"]>[1], verdict?: string) {
  await press(user, card, verdict);
  return modalOf(slack, user);
}

/** What the modal says after its submission. */
async function submitted(user: SlackUser, view: SlackView, note?: string): Promise<string> {
  const reaction = await slack.submit(user, view, note === undefined ? {} : { note });
  assert.equal(reaction.kind, "updated", JSON.stringify(reaction));
  return `${view.view.title.text}: ${textOf(view)}`;
}

async function nothingHappened({ read }: World, id: string, user: SlackUser) {
  assert.equal((await read(id)).status, "PENDING");
  assert.deepEqual(slack.openViews(user), []);
}

for (const transport of ["socket", "http"] as const) {
  describe(`by ${transport}`, () => {
    test("a linked person approves in two steps, and the vote says that it came by Slack", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask({ payload: { amount: 9007199254740.25 } });
      const view = await opened(ann, card);
      assert.equal((await world.read(id)).status, "PENDING", "the first step decides nothing");
      assert.match(textOf(view), /The agent will run exactly this payload\./);
      assert.match(textOf(view), /"amount": 9007199254740\.25/);
      assert.match(await submitted(ann, view, "Fine"), /^Approved: You approved this request/);
      const request = await world.read(id);
      assert.equal(request.status, "APPROVED");
      assert.equal(request.resolvedByEmail, "ann@example.com");
      assert.equal(request.resolutionNote, "Fine");
      const { rows } = await node.db.query(
        "select detail from events where approval_id = $1 and kind = 'request.approved'",
        [id],
      );
      assert.deepEqual(rows, [{ detail: { via: "slack" } }]);
      assert.deepEqual(answersOf(slack, ann), []);
      const left = await node.db.query(
        `select amr, address, user_agent, page, credential_id, shown_version, email, verdict,
           opened_at is not null and open_ms >= 0 as is_timed
         from evidence where approval_id = $1`,
        [id],
      );
      const none = { address: null, user_agent: null, page: null, credential_id: null };
      assert.deepEqual(left.rows, [
        {
          ...{ amr: ["slack"], ...none, shown_version: 2 },
          ...{ email: "ann@example.com", verdict: "approve", is_timed: true },
        },
      ]);
    });

    test("a rejection is a rejection", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask();
      assert.match(await submitted(ann, await opened(ann, card, "reject")), /^Rejected: /);
      assert.equal((await world.read(id)).status, "REJECTED");
    });

    test("a request that needs a signature leads to its page, and can be rejected here", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask({ requireSignature: true });
      await press(ann, card);
      assert.match(
        await answerOf(slack, ann),
        /only be approved with a passkey.* Nothing was recorded\./,
      );
      const [answer] = slack.privateAnswers(ann);
      assert.ok(JSON.stringify(answer).includes(`/inbox/requests/${id}`), "it leads to the page");
      await nothingHappened(world, id, ann);
      assert.match(await submitted(ann, await opened(ann, card, "reject")), /^Rejected: /);
      assert.equal((await world.read(id)).status, "REJECTED");
    });

    test("an unlinked account is told how to link, whoever it claims to be", async () => {
      const world = await connected(transport);
      const stranger = world.person({ email: "ann@example.com" });
      const { id, card } = await world.ask();
      await press(stranger, card);
      assert.match(await answerOf(slack, stranger), /We don’t know whose Slack account this is/);
      await nothingHappened(world, id, stranger);
    });

    for (const [what, flaw, told] of [
      ["a guest", { isRestricted: true }, /Guests of a Slack workspace can’t decide/],
      ["a single-channel guest", { isUltraRestricted: true }, /Guests/],
      ["a deactivated account", { isDeleted: true }, /no longer active/],
      ["a stranger in a shared channel", { isStranger: true }, /another organization/],
      ["somebody of another team", { teamId: "T_OTHER" }, /another/],
      ["a bot", { isBot: true }, /bot/],
    ] as const) {
      test(`${what} decides nothing, even if linked`, async () => {
        const world = await connected(transport);
        const ann = await world.linked("ann@example.com");
        Object.assign(ann, flaw);
        const { id, card } = await world.ask();
        await press(ann, card);
        assert.match(await answerOf(slack, ann), told);
        await nothingHappened(world, id, ann);
      });
    }

    test("somebody who became a guest since the first step decides nothing", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask();
      const view = await opened(ann, card);
      ann.isRestricted = true;
      assert.match(await submitted(ann, view), /^Nothing was recorded: Guests/);
      assert.equal((await world.read(id)).status, "PENDING");
    });

    test("being in the channel is no right", async () => {
      const world = await connected(transport);
      const eve = await world.linked("eve@example.com");
      const { id, card } = await world.ask();
      await press(eve, card);
      assert.match(await answerOf(slack, eve), /You are eve@example\.com here, who isn’t asked/);
      await nothingHappened(world, id, eve);
    });

    test("a confirmed profile address counts only where the workspace allows it", async () => {
      const world = await connected(transport, { matchesEmail: true });
      const ann = world.person({ email: "Ann@Example.com" });
      const first = await world.ask();
      assert.match(await submitted(ann, await opened(ann, first.card)), /^Approved/);
      assert.equal((await world.read(first.id)).resolvedByEmail, "ann@example.com");

      const unconfirmed = world.person({ email: "ann@example.com", isEmailConfirmed: false });
      const second = await world.ask();
      await press(unconfirmed, second.card);
      assert.match(await answerOf(slack, unconfirmed), /Slack hasn’t confirmed the address/);
      await nothingHappened(world, second.id, unconfirmed);
    });

    test("an address that was changed between the steps decides nothing", async () => {
      const world = await connected(transport, { matchesEmail: true });
      const ann = world.person({ email: "ann@example.com" });
      const { id, card } = await world.ask();
      const view = await opened(ann, card);
      ann.email = "eve@example.com";
      assert.match(await submitted(ann, view), /^Nothing was recorded: You are eve@example\.com/);
      assert.equal((await world.read(id)).status, "PENDING");
    });

    test("a profile can't take the address of somebody who is linked", async () => {
      const world = await connected(transport, { matchesEmail: true });
      await world.linked("ann@example.com");
      const other = world.person({ email: "ann@example.com" });
      const { id, card } = await world.ask();
      await press(other, card);
      assert.match(await answerOf(slack, other), /linked to another Slack account/);
      await nothingHappened(world, id, other);
    });

    test("a card of one workspace can't be pressed with another's connection", async () => {
      const [world, other] = [await connected(transport), await connected(transport)];
      const ann = await other.linked("ann@example.com");
      const { id, card } = await world.ask();
      const mine = await other.ask();
      const payload = slack.clickPayload(ann, mine.card, "countersign_approve");
      payload.actions[0].value = card.blocks[0].elements[0].value;
      await slack.deliver(other.app, payload);
      assert.match(await answerOf(slack, ann), /no longer belongs to a request/);
      await nothingHappened(world, id, ann);
    });

    test("an app that two workspaces share serves each by its own card", async () => {
      const world = await connected(transport);
      const other = await connected(transport, { app: world.app });
      // A socket that is open already learns of the second one at the next look.
      const ann = await world.linked("ann@example.com");
      const { id, card } = await other.ask();
      await until(async () => {
        await press(ann, card);
        await until(() => slack.openViews(ann).length > 0 || answersOf(slack, ann).length > 0);
        return slack.openViews(ann).length > 0;
      });
      assert.match(await submitted(ann, await modalOf(slack, ann)), /^Approved/);
      assert.equal((await other.read(id)).status, "APPROVED");
    });

    test("a doubled delivery decides once, and the second answer tells the outcome", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask();
      const view = await opened(ann, card);
      const payload = slack.submitPayload(ann, view);
      const answers = await Promise.all(
        [1, 2, 3].map(async () => (await slack.deliver(world.app, payload))?.payload),
      );
      const titles = answers.map((each) => each.view.title.text).sort();
      assert.deepEqual(titles, ["Already decided", "Already decided", "Approved"]);
      const late = (await slack.deliver(world.app, payload))?.payload;
      assert.match(JSON.stringify(late), /approved by ann@example\.com/);
      const { rows } = await node.db.query(
        "select count(*)::int as n from events where approval_id = $1 and kind = 'request.approved'",
        [id],
      );
      assert.deepEqual(rows, [{ n: 1 }]);
    });

    test("a doubled click opens at most one modal more, and decides nothing", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask();
      const payload = slack.clickPayload(ann, card, "countersign_approve");
      await Promise.all([1, 2].map(() => slack.deliver(world.app, payload)));
      await modalOf(slack, ann);
      assert.equal(slack.openViews(ann).length, 1, "the trigger works once");
      assert.equal((await world.read(id)).status, "PENDING");
    });

    test("an old message answers with the outcome, and is drawn again", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask();
      const { token } = await findReviewer(node.db, id);
      await decide(node.app, token, { verdict: "reject" });
      await press(ann, card);
      assert.match(await answerOf(slack, ann), /was rejected by ann@example\.com on/);
      const { rows } = await node.db.query(
        "select state, wanted > drawn as is_wanted from channel_messages where approval_id = $1",
        [id],
      );
      assert.deepEqual(rows, [{ state: "due", is_wanted: true }]);
    });

    test("a request that ended while the modal was open is told in the modal", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      for (const [end, told] of [
        ["EXPIRED", /^Already decided: This request expired on/],
        ["CANCELLED", /^Already decided: This request was cancelled on/],
      ] as const) {
        const { id, card } = await world.ask();
        const view = await opened(ann, card);
        if (end === "CANCELLED") {
          const { key } = world.workspace;
          await node.call("POST", `/v1/requests/${id}/cancel`, { key });
        } else {
          await node.db.query(
            "update approvals set created_at = now() - interval '2 hours', expires_at = now_ms() - interval '1 second' where id = $1",
            [id],
          );
        }
        assert.match(await submitted(ann, view), told);
        assert.equal((await world.read(id)).status, end);
        view.isOpen = false;
      }
    });

    test("somebody who was removed from the group meanwhile decides nothing", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const group = await createGroup(node.db, {
        ...{ workspaceId: world.workspace.id, key: "finance", name: "Finance" },
        members: ["ann@example.com", "bob@example.com"],
      });
      assert.ok("id" in group);
      const { id, card } = await world.ask({ notify: "group:finance" });
      const view = await opened(ann, card);
      await removeGroupMember(node.db, group.id, "ann@example.com");
      assert.match(await submitted(ann, view), /^Nothing was recorded: You are ann@example\.com/);
      assert.equal((await world.read(id)).status, "PENDING");
      view.isOpen = false;
      await addGroupMember(node.db, group.id, "ann@example.com");
      assert.match(await submitted(ann, await opened(ann, card)), /^Approved/);
    });

    test("another's modal, an edited one and an old one record nothing", async () => {
      const world = await connected(transport);
      const [ann, bob] = [
        await world.linked("ann@example.com"),
        await world.linked("b@example.com"),
      ];
      const { id, card } = await world.ask();
      const view = await opened(ann, card);
      const metadata: string = view.view.private_metadata;
      const owner = { teamId: world.app.teamId, slackUserId: ann.id };
      const ticket = readModalTicket(testKeyring, metadata, owner);
      assert.ok(ticket);
      assert.match(await submitted(bob, view), /^Nothing was recorded: This window was opened by/);

      const edited = await opened(ann, card);
      edited.view.private_metadata = metadata.replace(/^.{8}/, "AAAAAAAA");
      assert.match(await submitted(ann, edited), /^Nothing was recorded: This window/);

      const old = await opened(ann, card);
      const { issuedAt, ...content } = ticket;
      const before = new Date(issuedAt.getTime() - 61 * 60_000);
      const again = issueModalTicket(testKeyring, content, { owner, now: before });
      old.view.private_metadata = again;
      assert.match(
        await submitted(ann, old, "Typed"),
        /^Approve this request\?: You opened this more/,
      );
      assert.equal((await world.read(id)).status, "PENDING");
      // The question is asked anew, with what was typed.
      assert.match(await submitted(ann, old), /^Approved/);
      assert.equal((await world.read(id)).resolutionNote, "Typed");
    });

    test("a text that was changed since is shown anew, and nothing is recorded before", async () => {
      const world = await connected(transport);
      const group = await createGroup(node.db, {
        ...{ workspaceId: world.workspace.id, key: "finance", name: "Finance" },
        members: ["ann@example.com", "bob@example.com", "cy@example.com"],
      });
      assert.ok("id" in group);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask({ notify: "group:finance", quorum: 2 });
      const view = await opened(ann, card);
      const { token } = await findReviewer(node.db, id, { email: "bob@example.com" });
      await decide(node.app, token, { verdict: "approve", edit: '{"amount":30000}' });
      const told = await submitted(ann, view, "Typed");
      assert.match(told, /^Approve this request\?: bob@example\.com changed the payload meanwhile/);
      assert.match(told, /"amount": 30000/);
      assert.equal((await world.read(id)).approvals.stages[0].votes.length, 1);
      assert.match(await submitted(ann, view), /^Approved/);
      const request = await world.read(id);
      assert.deepEqual(
        request.approvals.stages[0].votes.map((vote: { via: string; note: string }) => [
          vote.via,
          vote.note,
        ]),
        [
          ["link", null],
          ["slack", "Typed"],
        ],
      );
    });

    test("a vote among several is recorded, and the second click tells it", async () => {
      const world = await connected(transport);
      await createGroup(node.db, {
        ...{ workspaceId: world.workspace.id, key: "finance", name: "Finance" },
        members: ["ann@example.com", "bob@example.com"],
      });
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask({ notify: "group:finance", quorum: 2 });
      const view = await opened(ann, card);
      const payload = slack.submitPayload(ann, view);
      assert.match(
        await submitted(ann, view),
        /^Recorded: You approved this on .* 1 more person of “Finance” must approve\./,
      );
      const again = await slack.deliver(world.app, payload);
      assert.match(JSON.stringify(again), /Recorded already.*You approved this on/);
      await press(ann, card);
      assert.match(await answerOf(slack, ann), /You approved this on/);
      assert.equal((await world.read(id)).approvals.stages[0].votes.length, 1);
    });

    test("somebody whom a later stage needs can only reject here", async () => {
      const world = await connected(transport);
      await createGroup(node.db, {
        ...{ workspaceId: world.workspace.id, key: "finance", name: "Finance" },
        members: ["ann@example.com", "bob@example.com"],
      });
      const ann = await world.linked("ann@example.com");
      const stages = { notify: "group:finance", then: [{ notify: "ann@example.com" }] };
      const { id, card } = await world.ask(stages);
      await press(ann, card);
      assert.match(
        await answerOf(slack, ann),
        /You are needed in stage 2; somebody else of “Finance” must approve here/,
      );
      await nothingHappened(world, id, ann);
      const view = await opened(ann, card, "reject");
      assert.match(textOf(view), /One rejection ends the request for everybody/);
      assert.match(await submitted(ann, view), /^Rejected/);
      assert.equal((await world.read(id)).status, "REJECTED");
    });

    test("the requester and the owner of the key never decide", async () => {
      const world = await connected(transport);
      const rita = await world.linked("rita@example.com");
      await createGroup(node.db, {
        ...{ workspaceId: world.workspace.id, key: "finance", name: "Finance" },
        members: ["ann@example.com", "rita@example.com"],
      });
      const asked = { notify: "group:finance", requestedBy: "rita@example.com" };
      const first = await world.ask(asked);
      await press(rita, first.card);
      assert.match(await answerOf(slack, rita), /isn’t asked|not asked/);

      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask();
      const view = await opened(ann, card);
      await node.db.query("update api_keys set owner_email = 'ann@example.com' where id = $1", [
        world.workspace.keyId,
      ]);
      assert.match(await submitted(ann, view), /^Nothing was recorded: The agent acts for you/);
      view.isOpen = false;
      await press(ann, card);
      assert.match(await answerOf(slack, ann), /The agent acts for you, or with your key/);
      assert.equal((await world.read(id)).status, "PENDING");
    });

    test("what doesn't fit, or may not be shown in Slack, leads to the page", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const large = await world.ask({ payload: "y".repeat(200_000) });
      for (const body of [
        { payload: Array(5_000).fill("a long value") },
        { payload: "x".repeat(500_000) },
        { summary: "Pay \u202eevil" },
      ]) {
        const { id, card } = await world.ask(body);
        await press(ann, card);
        assert.match(await answerOf(slack, ann), /more to show than fits into Slack/);
        const { blocks } = slack.privateAnswers(ann).at(-1) ?? { blocks: [] };
        assert.match(JSON.stringify(blocks), new RegExp(`/inbox/requests/${id}"`));
        await nothingHappened(world, id, ann);
      }
      const { id, card } = await world.ask();
      await node.db.query("update approvals set channels = '{mail,slack_link}' where id = $1", [
        id,
      ]);
      await press(ann, card);
      await until(async () => answersOf(slack, ann).length === 4);
      assert.match(await answerOf(slack, ann), /may not be decided in Slack/);

      const { key } = world.workspace;
      await node.call("POST", `/v1/requests/${large.id}/cancel`, { key });
      await press(ann, large.card);
      await until(async () => answersOf(slack, ann).length === 5);
      assert.match(await answerOf(slack, ann), /This request was cancelled on/);

      const held = await connected(transport, { showsPayload: false });
      const bea = await held.linked("ann@example.com");
      const other = await held.ask();
      await press(bea, other.card);
      assert.match(await answerOf(slack, bea), /may not be decided in Slack/);
      await nothingHappened(held, other.id, bea);
    });

    test("when Slack doesn't open the modal, the clicker is told what to do", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask();
      for (const [fault, told] of [
        [{ retryAfterSeconds: 30 }, /too much to do just now/],
        [{ error: "expired_trigger_id" }, /took too long/],
        [{ breaks: "before" }, /couldn’t show the request/],
      ] as const) {
        slack.plan("views.open", fault);
        const before = answersOf(slack, ann).length;
        await press(ann, card);
        await until(() => answersOf(slack, ann).length > before);
        assert.match(await answerOf(slack, ann), told);
        await nothingHappened(world, id, ann);
      }
      slack.plan("users.info", { retryAfterSeconds: 30 });
      await press(ann, card);
      await until(() => answersOf(slack, ann).length === 4);
      assert.match(await answerOf(slack, ann), /couldn’t tell us just now who you are/);
      await nothingHappened(world, id, ann);
      assert.match(await submitted(ann, await opened(ann, card)), /^Approved/);
    });

    test("a message that was deleted meanwhile takes nothing from the vote", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask();
      const view = await opened(ann, card);
      slack.deleteMessage(card);
      assert.match(await submitted(ann, view), /^Approved/);
      assert.equal((await world.read(id)).status, "APPROVED");
    });

    test("a revoked token is noted, and its clicks are told where to go", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask();
      const token = slack.state.tokens.get(world.app.botToken);
      assert.ok(token);
      token.refusal = "token_revoked";
      await press(ann, card);
      assert.match(await answerOf(slack, ann), /The connection to this Slack workspace is broken/);
      await nothingHappened(world, id, ann);
      const { rows } = await node.db.query(
        "select broken_reason from slack_connections where workspace_id = $1",
        [world.workspace.id],
      );
      assert.deepEqual(rows, [{ broken_reason: "token_revoked" }]);
    });

    test("a button that we don't know is answered, too", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask();
      await slack.click(ann, card, "of_another_app");
      assert.match(await answerOf(slack, ann), /This button is of another version of the app/);
      await nothingHappened(world, id, ann);
    });

    test("a note that can't be kept is refused beside its field", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask();
      const view = await opened(ann, card);
      const reaction = await slack.submit(ann, view, { note: "a\u0000b" });
      assert.equal(reaction.kind, "errors", JSON.stringify(reaction));
      assert.equal((await world.read(id)).status, "PENDING");
    });

    test("fifty racing by Slack, page and mail link make one resolution", async () => {
      const world = await connected(transport);
      const ann = await world.linked("ann@example.com");
      const { id, card } = await world.ask();
      const view = await opened(ann, card);
      const payload = slack.submitPayload(ann, view);
      const { token } = await findReviewer(node.db, id);
      const results = await Promise.all(
        Array.from({ length: 50 }, async (_, at) => {
          if (at % 2 === 0)
            return (await slack.deliver(world.app, payload))?.payload.view.title.text;
          const reply = await decide(node.app, token, {
            verdict: at % 4 === 1 ? "approve" : "reject",
          });
          return reply.status === 200 ? "Approved" : "Already decided";
        }),
      );
      const decided = results.filter((each) => each === "Approved").length;
      assert.equal(decided, 1, JSON.stringify(results));
      assert.equal(results.filter((each) => each === "Already decided").length, 49);
      const { rows } = await node.db.query(
        "select count(*)::int as n from events where approval_id = $1 and kind in ('request.approved', 'request.rejected')",
        [id],
      );
      assert.deepEqual(rows, [{ n: 1 }]);
    });
  });
}
