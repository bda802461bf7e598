// Reads `channels`: the channels by which a caller lets people be asked.

import { type AskingChannel, askingChannels } from "../shown/asking-channels.ts";
import { describeType } from "./json-body.ts";
import type { Flaw } from "./new-voting.ts";

const known = askingChannels.join(", ");

export function readChannels(value: unknown, place: string): AskingChannel[] | null | Flaw {
  if (value === null) return null;
  if (!Array.isArray(value)) {
    return { place, flaw: `must be an array of ${known}, not ${describeType(value)}` };
  }
  const channels: AskingChannel[] = [];
  for (const [index, each] of value.entries()) {
    const at = `${place}[${index}]`;
    const channel = askingChannels.find((name) => name === each);
    if (channel === undefined) return { place: at, flaw: flawOfName(each) };
    if (channels.includes(channel)) return { place: at, flaw: `names ${channel} a second time` };
    channels.push(channel);
  }
  const flaw = flawOfChoice(channels);
  return flaw === null ? channels : { place, flaw };
}

function flawOfName(each: unknown): string {
  const given = typeof each === "string" ? "is an unknown channel" : `is ${describeType(each)}`;
  return `${given}; known are ${known}`;
}

function flawOfChoice(channels: readonly AskingChannel[]): string | null {
  if (!channels.includes("mail")) {
    return "must have mail in it: it reaches people when other channels can't";
  }
  return channels.includes("slack") && channels.includes("slack_link")
    ? "must not have both slack and slack_link: the one shows the payload in Slack, the other never does"
    : null;
}
