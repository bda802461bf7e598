// What tests of connecting share: a node at its real address, somebody in front of its dashboard, and a client that does
// all by hand.

import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { Role } from "../../server/src/domain/workspace/role.ts";
import { makeSignInLink } from "../../server/src/operations/people/sign-in.ts";
import { callDashboard, cookieOf, makeMember } from "../../server/test/test-dashboard.ts";
import { makeWorkspace, startNode, type TestService } from "../../server/test/test-service.ts";

export const redirectUri = "http://127.0.0.1:5555/callback";

type NodeChoice = { path?: string; rateLimit?: { perSecond: number; burst: number } };

/** A node at its real address, behind a path if there is one. */
export async function openNode(
  context: TestContext,
  { database }: TestService,
  { path = "", ...options }: NodeChoice = {},
) {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}${path}`;
  const node = await startNode(database, { publicUrl, ...options });
  context.after(() => node.stop());
  await node.app.listen({ port, host: "127.0.0.1" });
  return { node, publicUrl };
}

export type Place = Awaited<ReturnType<typeof openNode>>;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Somebody in front of the dashboard of this node. */
export async function openBrowser(
  { node, publicUrl }: Place,
  role: Role = "admin",
  address: string | null = null,
) {
  const { db } = node;
  const { id: workspaceId } = await makeWorkspace(db);
  const email = address ?? `ann@${workspaceId.replace("_", "-")}.example`;
  await makeMember(db, { workspaceId, email, role, hasJoined: true });
  const headers = { origin: new URL(publicUrl).origin, "sec-fetch-site": "same-origin" };
  const token = await makeSignInLink(db, node.keyring, email);
  const cookie = cookieOf(
    await callDashboard(node, "POST /sign-in/link", { body: { token }, headers }),
  );
  const ask = (search: string) =>
    callDashboard(node, "GET /connections/asked", {
      cookie,
      query: Object.fromEntries(new URLSearchParams(search)),
    });
  const allow = (search: string, more: object = {}) =>
    callDashboard(node, "POST /workspaces/:workspaceId/connections", {
      cookie,
      headers,
      params: { workspaceId },
      body: { asked: search, as: email },
      ...more,
    });
  const listKeys = async () => {
    const params = { workspaceId };
    const { json } = await callDashboard(node, "GET /workspaces/:workspaceId/keys", {
      cookie,
      params,
    });
    return json.keys;
  };
  const activity = async () => {
    const params = { workspaceId };
    const { json } = await callDashboard(node, "GET /workspaces/:workspaceId/activity", {
      cookie,
      params,
    });
    return json.items;
  };
  return { workspaceId, email, cookie, ask, allow, listKeys, activity };
}

/** A client that does all by hand, well unless told otherwise. */
export async function openHand(
  context: TestContext,
  service: TestService,
  choice: NodeChoice = {},
) {
  const place = await openNode(context, service, choice);
  const { publicUrl } = place;
  const post = async (path: string, body: string | URLSearchParams) => {
    const response = await fetch(`${publicUrl}${path}`, { method: "POST", body });
    // biome-ignore lint/suspicious/noExplicitAny: each test looks at what it expects there
    const json: any = await response.json();
    return { status: response.status, json };
  };
  const register = () =>
    post(
      "/oauth/register",
      JSON.stringify({ client_name: "A client", redirect_uris: [redirectUri] }),
    );
  const { client_id: clientId } = (await register()).json;
  const verifier = randomBytes(32).toString("base64url");
  const good = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: `${publicUrl}/mcp`,
    state: "s",
  };
  const searchWith = (changes: Record<string, string | undefined> = {}) =>
    new URLSearchParams(
      Object.entries({ ...good, ...changes }).filter(
        (each): each is [string, string] => each[1] !== undefined,
      ),
    ).toString();
  const token = (form: Record<string, string>) => post("/oauth/token", new URLSearchParams(form));
  const exchange = (code: string, changes: Record<string, string> = {}) =>
    token({
      grant_type: "authorization_code",
      code,
      client_id: clientId,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      resource: `${publicUrl}/mcp`,
      ...changes,
    });
  const refresh = (refreshToken: string, changes: Record<string, string> = {}) =>
    token({
      grant_type: "refresh_token",
      refresh_token: refreshToken,
      client_id: clientId,
      ...changes,
    });
  const statusOf = async (bearer: string, at = "/mcp") => {
    const response = await fetch(`${publicUrl}${at}`, {
      method: at === "/mcp" ? "POST" : "GET",
      headers: {
        authorization: `Bearer ${bearer}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      },
      ...(at === "/mcp"
        ? { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}' }
        : {}),
    });
    await response.text();
    return response.status;
  };
  const codeOf = async (browser: Awaited<ReturnType<typeof openBrowser>>) => {
    const { json } = await browser.allow(searchWith());
    return new URL(json.redirectTo).searchParams.get("code") ?? "";
  };
  return {
    place,
    register,
    clientId,
    searchWith,
    exchange,
    refresh,
    token,
    statusOf,
    codeOf,
    post,
  };
}
