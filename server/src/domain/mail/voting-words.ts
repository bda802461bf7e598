// What a mail says where several people decide: how far they are, in which stage its reader is asked, and for whom they
// stand in. Names of groups and addresses are others' words.

import { addressWord } from "./address-word.ts";
import type { Fact, Words } from "./letter.ts";
import { instantInWords } from "./times.ts";

/** How things stood when a mail's event happened. */
export type MailedVoting = {
  /** The stage in which its reader is asked, from 1 on. */
  stage: number;
  stages: readonly MailedStage[];
  seat: MailedSeat;
};

export type MailedStage = {
  /** A group's name, or an address. */
  name: string;
  isGroup: boolean;
  required: number;
  /** Approvals of exactly the revision of that moment. */
  approved: number;
};

/** Whose vote the reader may give, and why. */
export type MailedSeat = {
  reason: "asked" | "escalated" | "away" | "handed_over";
  /** The reader, or for whom they stand in. */
  person: string;
  /** Until when that person is away; null when it isn't they who are, but to whom they handed it over. */
  until: Date | null;
};

/** Nothing where one approval of one person is enough: such a mail says what it always said. */
export function votingFacts({ stage, stages }: MailedVoting): Fact[] {
  const current = stages[stage - 1];
  if (current === undefined || (stages.length === 1 && current.required === 1)) return [];
  const { approved, required } = current;
  const where = stages.length === 1 ? "" : " in this stage";
  const approvals: Fact = {
    label: "Approvals",
    words: [`${approved} of ${required} so far${where}`],
  };
  return [approvals, ...stageFacts(stage, stages)];
}

function stageFacts(stage: number, stages: readonly MailedStage[]): Fact[] {
  if (stages.length === 1) return [];
  const before = stages.slice(0, stage - 1);
  const after = stages.slice(stage);
  const words: Words = [
    `${stage} of ${stages.length}`,
    ...(before.length === 0 ? [] : [", after ", ...namesOf(before)]),
    ...(after.length === 0 ? [] : [", then ", ...namesOf(after)]),
  ];
  return [{ label: "Stage", words }];
}

function namesOf(stages: readonly MailedStage[]): Words {
  return stages.flatMap((stage, index) => [...(index === 0 ? [] : [", "]), ...stageName(stage)]);
}

export function stageName({ name, isGroup }: MailedStage): Words {
  return isGroup ? ["“", { theirs: name }, "”"] : [addressWord(name)];
}

/** A delegate and those in whose place they are asked. */
export const bothCount = "Both of you may vote; together you count once.";

/** For whom the reader votes; nothing where it is for themselves. */
export function standInWords({ seat }: MailedVoting): Words {
  const person = addressWord(seat.person);
  switch (seat.reason) {
    case "asked":
    case "escalated":
      return [];
    case "away": {
      const { until } = seat;
      const away = until === null ? "" : `, who is away until ${instantInWords(until)}`;
      return ["You are asked in place of ", person, `${away}. ${bothCount}`];
    }
    case "handed_over":
      return ["You vote in place of ", person, ", whose vote was handed over to you."];
    default:
      return seat.reason satisfies never;
  }
}

/** Why the reader gets a mail, after "because ". */
export function roleWords(voting: MailedVoting): Words {
  const { reason, person } = voting.seat;
  if (reason === "escalated") return ["this request was escalated to you"];
  if (reason !== "asked") return ["you stand in for ", addressWord(person)];
  const stage = voting.stages[voting.stage - 1];
  return groupRole(stage?.isGroup === true ? stage.name : null);
}

export function groupRole(groupName: string | null): Words {
  return groupName === null
    ? ["you are named as the approver"]
    : ["you are a member of the approver group “", { theirs: groupName }, "”"];
}

/** `for` is whom they stood in for, where it wasn't themselves. */
export type MailedPerson = { email: string; for?: string | null };

/** `count` people, of whom the given ones are named. */
export function peopleWords(named: readonly MailedPerson[], count: number): Words {
  const more = count - named.length;
  return [
    ...named.flatMap(({ email, for: person = null }, index) => [
      ...(index === 0 ? [] : [", "]),
      addressWord(email),
      ...(person === null ? [] : [" (for ", addressWord(person), ")"]),
    ]),
    ...(more > 0 ? [` and ${more} more`] : []),
  ];
}
