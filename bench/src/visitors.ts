// People at the dashboard: signed in, in as many sessions as one person may have, since each may call only so often.

import { sessionsPerPersonMax } from "../../server/src/domain/limits.ts";
import { sessionCookie } from "../../server/src/http/dashboard/session-cookie.ts";
import { addMember } from "../../server/src/operations/people/add-member.ts";
import { startSession } from "../../server/src/operations/people/sign-in.ts";
import type { Service } from "./service.ts";
import { accepted, type Workspace } from "./workloads.ts";

const email = "bo.member@example.com";

/** The call for the first page of requests, once for each session. */
export async function listCalls(service: Service, { id }: Workspace): Promise<string[]> {
  accepted(await addMember(service.db, { workspaceId: id, email, role: "viewer" }));
  const calls: string[] = [];
  while (calls.length < sessionsPerPersonMax) {
    const cookie = await signIn(service);
    calls.push(
      `GET /app/api/workspaces/${id}/requests HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\n\r\n`,
    );
  }
  return calls;
}

async function signIn({ db, port }: Service): Promise<string> {
  const browser = { userAgent: null, address: null, tokenDigest: null };
  const session = await startSession(db, { email, method: "link", ...browser });
  if (session === null) throw new Error(`${email} is a member nowhere`);
  const [cookie = ""] = sessionCookie(`http://localhost:${port}`, session.token).split(";");
  return cookie;
}
