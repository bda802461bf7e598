// Changes where a group is asked beside mail. What one form changes is changed place by place: the first that is refused
// ends it, and what was changed before it holds.

import { z } from "zod";
import { isRefusal } from "../../../domain/refusal.ts";
import {
  type Changed,
  type GroupPlace,
  removeGroupSlackChannel,
  removeGroupTeams,
  setGroupMailDelay,
  setGroupSlackChannel,
  setGroupTeams,
} from "../../../operations/channels/group-channels.ts";
import { findSlackChannel } from "../../../operations/channels/slack-channel.ts";
import { unknownGroup } from "../../../operations/people/manage-group.ts";
import * as groupChannels from "../../../storage/channels/group-channels.ts";
import * as groups from "../../../storage/people/groups.ts";
import type { GroupChannelChanges, GroupChannels } from "../../../wire/dashboard-channels.ts";
import { tellRefusal } from "../change-refusal.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  doerOf,
  idIn,
  type MemberVisit,
  readForm,
} from "../visit.ts";
import { toGroupChannels } from "./channels.ts";

const changes = z.object({
  slackChannel: z.string().nullable().optional(),
  teamsUrl: z.string().nullable().optional(),
  mailAfterMinutes: z.number().nullable().optional(),
});

export async function change(
  calls: DashboardCalls,
  visit: MemberVisit,
): Promise<GroupChannels | DashboardRefusal> {
  const form = readForm(visit.call, changes);
  if (isRefusal(form)) return form;
  const { workspaceId, call } = visit;
  const place = { workspaceId, groupId: idIn(call, "groupId") };
  const isThere = (await groups.list(calls.db, workspaceId)).some(({ id }) => id === place.groupId);
  if (!isThere) return tellRefusal(unknownGroup(place.groupId, doerOf(visit)));
  for (const { field, make } of stepsOf(calls, visit, place, form)) {
    const changed = await make();
    if (!isRefusal(changed)) continue;
    // Operations name the field by their own word for it.
    return changed.field === undefined
      ? tellRefusal(changed)
      : { ...changed, field, message: changed.message.replace(/^\w+: /, `${field}: `) };
  }
  return toGroupChannels(await groupChannels.get(calls.db, place));
}

type Step = { field: keyof GroupChannelChanges; make: () => Promise<Changed> };

function stepsOf(
  { db, keyring, examineAddress, callSlack }: DashboardCalls,
  visit: MemberVisit,
  place: GroupPlace,
  { slackChannel, teamsUrl, mailAfterMinutes }: z.infer<typeof changes>,
): Step[] {
  const by = doerOf(visit);
  const setSlackChannel = async (text: string): Promise<Changed> => {
    const channel = await findSlackChannel(
      { db, keyring, callSlack },
      { workspaceId: place.workspaceId, text },
    );
    return isRefusal(channel) ? channel : setGroupSlackChannel(db, { ...place, channel }, by);
  };
  const steps: Step[] = [];
  if (slackChannel !== undefined) {
    const make = () =>
      slackChannel === null
        ? removeGroupSlackChannel(db, place, by)
        : setSlackChannel(slackChannel);
    steps.push({ field: "slackChannel", make });
  }
  if (teamsUrl !== undefined) {
    const make = () =>
      teamsUrl === null
        ? removeGroupTeams(db, place, by)
        : setGroupTeams(db, keyring, { ...place, url: teamsUrl, examineAddress }, by);
    steps.push({ field: "teamsUrl", make });
  }
  if (mailAfterMinutes !== undefined) {
    const make = () => setGroupMailDelay(db, { ...place, minutes: mailAfterMinutes }, by);
    steps.push({ field: "mailAfterMinutes", make });
  }
  return steps;
}
