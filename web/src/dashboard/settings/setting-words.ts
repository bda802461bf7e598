// The settings with a fixed list of values, in the words of the pages.

import type { Settings } from "../../../../server/src/wire/dashboard-settings.ts";

export const limitWords: Record<NonNullable<Settings["approverLimit"]>, string> = {
  anybody: "Anybody",
  members: "Members and people in groups",
  domains: "Addresses of listed domains",
};

export const handOverWords: Record<Settings["handOver"], string> = {
  off: "Off",
  group: "To people in the same group",
  workspace: "To members and people in groups",
};
