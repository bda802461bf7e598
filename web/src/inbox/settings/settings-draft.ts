// The settings as their form holds them: text in fields, until they are saved.

import type {
  InboxSettings,
  InboxSettingsChange,
} from "../../../../server/src/wire/inbox-contract.ts";

export type SettingsDraft = {
  isMailLater: boolean;
  minutes: string;
  usesSlack: boolean;
  isQuiet: boolean;
  from: string;
  until: string;
  timeZone: string;
};

export type SettingsFlaw = { field: "minutes" | "from" | "until"; message: string };

const minutesMax = 1_440;

/** `timeZone` is the browser's: quiet hours that aren't set yet are set for it. */
export function draftOf(settings: InboxSettings, timeZone: string): SettingsDraft {
  const { mailAfterMinutes, usesSlack, quiet } = settings;
  return {
    isMailLater: mailAfterMinutes !== null,
    minutes: String(mailAfterMinutes ?? 10),
    usesSlack,
    isQuiet: quiet !== null,
    from: quiet?.from.slice(0, 5) ?? "20:00",
    until: quiet?.until.slice(0, 5) ?? "08:00",
    timeZone: quiet?.timeZone ?? timeZone,
  };
}

/** The body to send, or the first field that can't be sent. */
export function changeOf(draft: SettingsDraft): InboxSettingsChange | SettingsFlaw {
  const { isMailLater, minutes, usesSlack, isQuiet, from, until, timeZone } = draft;
  const count = /^[0-9]{1,4}$/.test(minutes.trim()) ? Number(minutes) : 0;
  if (isMailLater && (count < 1 || count > minutesMax)) {
    return { field: "minutes", message: `Type a number of minutes from 1 to ${minutesMax}.` };
  }
  if (isQuiet && from === "") return { field: "from", message: "Choose when they begin." };
  if (isQuiet && until === "") return { field: "until", message: "Choose when they end." };
  if (isQuiet && from === until) {
    return { field: "until", message: "Choose another time than the beginning." };
  }
  return {
    mailAfterMinutes: isMailLater ? count : null,
    usesSlack,
    quiet: isQuiet ? { from, until, timeZone } : null,
  };
}

export function isFlaw(change: InboxSettingsChange | SettingsFlaw): change is SettingsFlaw {
  return "field" in change;
}
