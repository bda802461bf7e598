// Every call of the dashboard and who may make it: the one table of routes and rights. The compiler holds it to the
// contract, and a test walks every row with every role and with somebody from another workspace.

import type { Role } from "../../../domain/workspace/role.ts";
import type { DashboardApi } from "../../../wire/dashboard-contract.ts";
import type { Call } from "../../frame/call.ts";
import * as absences from "../absences.ts";
import * as account from "../account.ts";
import * as attention from "../attention.ts";
import * as callbackSecret from "../callback-secret.ts";
import * as cancelling from "../cancelling.ts";
import * as channels from "../channels/channels.ts";
import * as groupChannels from "../channels/group-channels.ts";
import * as slack from "../channels/slack.ts";
import * as connections from "../connections.ts";
import * as deliveries from "../deliveries.ts";
import * as endpoints from "../endpoints.ts";
import { exportWorkspaceLog } from "../exports/log-export.ts";
import * as exports from "../exports/request-export.ts";
import * as figures from "../figures.ts";
import * as groups from "../groups.ts";
import * as keys from "../keys.ts";
import * as members from "../members.ts";
import * as passkeys from "../passkeys.ts";
import * as requestProof from "../proof/request-proof.ts";
import * as requests from "../requests.ts";
import * as signIn from "../sign-in.ts";
import type {
  DashboardCalls,
  DashboardRefusal,
  MemberVisit,
  Told,
  Visit,
  WithHeaders,
} from "../visit.ts";
import * as workspace from "../workspace.ts";

/** `who` may call: anybody, anybody signed in, or members of the workspace in at least this role. */
export type Row<Value> =
  | {
      who: "anyone";
      handle: (calls: DashboardCalls, call: Call) => Promise<WithHeaders<Value> | DashboardRefusal>;
    }
  | {
      who: "person";
      handle: (calls: DashboardCalls, visit: Visit) => Told<Value | WithHeaders<Value>>;
    }
  | { who: Role; handle: (calls: DashboardCalls, visit: MemberVisit) => Told<Value> };

export type DashboardTable = { [Name in keyof DashboardApi]: Row<DashboardApi[Name]["answer"]> };

// biome-ignore format: a table is read by its columns
export const dashboardTable: DashboardTable = {
  "GET /sign-in": { who: "anyone", handle: signIn.options },
  "POST /sign-in/code": { who: "anyone", handle: signIn.mailCode },
  "POST /sign-in/code/verify": { who: "anyone", handle: signIn.verifyCode },
  "POST /sign-in/link": { who: "anyone", handle: signIn.useLink },
  "POST /sign-in/passkey/begin": { who: "anyone", handle: passkeys.beginSignIn },
  "POST /sign-in/passkey/finish": { who: "anyone", handle: passkeys.finishSignIn },
  "POST /sign-out": { who: "person", handle: signIn.signOut },

  "GET /me": { who: "person", handle: account.me },
  "GET /me/sessions": { who: "person", handle: account.sessions },
  "POST /me/sessions/:sessionId/revoke": { who: "person", handle: account.revokeSession },
  "POST /me/sessions/revoke-others": { who: "person", handle: account.revokeOtherSessions },
  "GET /me/passkeys": { who: "person", handle: passkeys.list },
  "POST /me/passkeys/begin": { who: "person", handle: passkeys.begin },
  "POST /me/passkeys/finish": { who: "person", handle: passkeys.finish },
  "POST /me/passkeys/:passkeyId/remove": { who: "person", handle: passkeys.remove },
  "POST /me/invitations/:workspaceId/accept": { who: "person", handle: account.acceptInvitation },
  "POST /me/invitations/:workspaceId/decline": { who: "person", handle: account.declineInvitation },
  "POST /me/workspaces/:workspaceId/leave": { who: "person", handle: account.leaveWorkspace },
  "GET /me/absences": { who: "person", handle: absences.listOwn },
  "POST /me/workspaces/:workspaceId/absences": { who: "person", handle: absences.set },
  "POST /me/absences/:absenceId": { who: "person", handle: absences.change },
  "POST /me/absences/:absenceId/end": { who: "person", handle: absences.endOwn },

  "GET /workspaces/:workspaceId": { who: "viewer", handle: workspace.show },
  "POST /workspaces/:workspaceId/settings": { who: "admin", handle: workspace.changeSettings },
  "POST /workspaces/:workspaceId/proof": { who: "owner", handle: workspace.changeProof },
  "POST /workspaces/:workspaceId/callback-secret/show": { who: "admin", handle: callbackSecret.show },
  "POST /workspaces/:workspaceId/callback-secret/rotate": { who: "admin", handle: callbackSecret.rotate },
  "GET /workspaces/:workspaceId/usage": { who: "viewer", handle: figures.usage },
  "GET /workspaces/:workspaceId/overview": { who: "viewer", handle: figures.overview },
  "GET /workspaces/:workspaceId/attention": { who: "viewer", handle: attention.show },
  "GET /workspaces/:workspaceId/activity": { who: "viewer", handle: workspace.activity },

  "GET /workspaces/:workspaceId/requests": { who: "viewer", handle: requests.list },
  "GET /workspaces/:workspaceId/requests/export": { who: "viewer", handle: exports.requests },
  "GET /workspaces/:workspaceId/log/export": { who: "admin", handle: exportWorkspaceLog },
  "GET /workspaces/:workspaceId/exportable": { who: "viewer", handle: exports.check },
  "GET /workspaces/:workspaceId/requests/:requestId": { who: "viewer", handle: requests.show },
  "GET /workspaces/:workspaceId/requests/:requestId/key": { who: "viewer", handle: keys.ofRequest },
  "GET /workspaces/:workspaceId/requests/:requestId/proof": { who: "viewer", handle: requestProof.show },
  "POST /workspaces/:workspaceId/requests/:requestId/cancel": { who: "admin", handle: requests.cancel },
  "GET /workspaces/:workspaceId/cancellable": { who: "admin", handle: cancelling.count },
  "POST /workspaces/:workspaceId/requests/cancel": { who: "admin", handle: cancelling.cancelChosen },
  "POST /workspaces/:workspaceId/requests/cancel-matching": { who: "admin", handle: cancelling.cancelMatching },
  "POST /workspaces/:workspaceId/requests/:requestId/mail-again": { who: "admin", handle: requests.mailAgain },
  "POST /workspaces/:workspaceId/requests/:requestId/remind": { who: "admin", handle: requests.remind },

  "GET /workspaces/:workspaceId/deliveries": { who: "viewer", handle: deliveries.list },
  "GET /workspaces/:workspaceId/deliveries/:deliveryId": { who: "viewer", handle: deliveries.show },
  "POST /workspaces/:workspaceId/deliveries/:deliveryId/resend": { who: "admin", handle: deliveries.resend },

  "GET /workspaces/:workspaceId/endpoints": { who: "viewer", handle: endpoints.list },
  "POST /workspaces/:workspaceId/endpoints": { who: "admin", handle: endpoints.add },
  "GET /workspaces/:workspaceId/endpoints/:endpointId": { who: "viewer", handle: endpoints.show },
  "POST /workspaces/:workspaceId/endpoints/:endpointId": { who: "admin", handle: endpoints.change },
  "POST /workspaces/:workspaceId/endpoints/:endpointId/enable": { who: "admin", handle: endpoints.enable },
  "POST /workspaces/:workspaceId/endpoints/:endpointId/disable": { who: "admin", handle: endpoints.disable },
  "POST /workspaces/:workspaceId/endpoints/:endpointId/rotate": { who: "admin", handle: endpoints.rotate },
  "POST /workspaces/:workspaceId/endpoints/:endpointId/test": { who: "admin", handle: endpoints.test },
  "POST /workspaces/:workspaceId/endpoints/:endpointId/resend-failed": { who: "admin", handle: endpoints.resendFailed },
  "GET /workspaces/:workspaceId/endpoints/:endpointId/deletion": { who: "admin", handle: endpoints.foresee },
  "POST /workspaces/:workspaceId/endpoints/:endpointId/delete": { who: "admin", handle: endpoints.remove },

  "GET /workspaces/:workspaceId/keys": { who: "viewer", handle: keys.list },
  "POST /workspaces/:workspaceId/keys": { who: "admin", handle: keys.issue },
  "POST /workspaces/:workspaceId/keys/:keyId": { who: "admin", handle: keys.change },
  "GET /workspaces/:workspaceId/keys/:keyId/revocation": { who: "admin", handle: keys.foresee },
  "POST /workspaces/:workspaceId/keys/:keyId/revoke": { who: "admin", handle: keys.revoke },

  "GET /connections/asked": { who: "person", handle: connections.asked },
  "POST /workspaces/:workspaceId/connections": { who: "admin", handle: connections.allow },

  "GET /workspaces/:workspaceId/groups": { who: "viewer", handle: groups.list },
  "POST /workspaces/:workspaceId/groups": { who: "admin", handle: groups.create },
  "POST /workspaces/:workspaceId/groups/:groupId": { who: "admin", handle: groups.rename },
  "POST /workspaces/:workspaceId/groups/:groupId/signature": { who: "owner", handle: groups.changeSignature },
  "POST /workspaces/:workspaceId/groups/:groupId/members": { who: "admin", handle: groups.addMember },
  "POST /workspaces/:workspaceId/groups/:groupId/members/remove": { who: "admin", handle: groups.removeMember },
  "POST /workspaces/:workspaceId/groups/:groupId/channels": { who: "admin", handle: groupChannels.change },
  "GET /workspaces/:workspaceId/groups/:groupId/deletion": { who: "admin", handle: groups.foresee },
  "POST /workspaces/:workspaceId/groups/:groupId/delete": { who: "admin", handle: groups.remove },

  "GET /workspaces/:workspaceId/channels": { who: "viewer", handle: channels.show },
  "POST /workspaces/:workspaceId/slack": { who: "owner", handle: slack.connect },
  "POST /workspaces/:workspaceId/slack/settings": { who: "owner", handle: slack.change },
  "POST /workspaces/:workspaceId/slack/test": { who: "owner", handle: slack.test },
  "POST /workspaces/:workspaceId/slack/disconnect": { who: "owner", handle: slack.disconnect },
  "GET /workspaces/:workspaceId/slack/manifest": { who: "owner", handle: slack.manifest },

  "GET /workspaces/:workspaceId/members": { who: "viewer", handle: members.list },
  "POST /workspaces/:workspaceId/members": { who: "admin", handle: members.invite },
  "POST /workspaces/:workspaceId/members/:memberId/role": { who: "admin", handle: members.changeRole },
  "GET /workspaces/:workspaceId/members/:memberId/removal": { who: "admin", handle: members.foresee },
  "POST /workspaces/:workspaceId/members/:memberId/remove": { who: "admin", handle: members.remove },
  "GET /workspaces/:workspaceId/colleagues": { who: "viewer", handle: absences.colleagues },
  "GET /workspaces/:workspaceId/absences": { who: "admin", handle: absences.list },
  "POST /workspaces/:workspaceId/absences/:absenceId/end": { who: "admin", handle: absences.end },
};
