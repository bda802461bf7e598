// Which messages a request should have beside its mails: in the channel of a group, to a person, on their devices. A pure
// rule over what is known of those who are asked just now.

export type MessageChannelName = "push" | "slack" | "teams";

export type AskedPerson = {
  /** In lower case. */
  email: string;
  /** The groups as whose members they are asked; null where they are asked by name. */
  groupIds: readonly (string | null)[];
  /** They have a Slack account that we know, and use it. */
  hasSlack: boolean;
  hasPush: boolean;
  /** The end of their quiet hours, if they have them just now. */
  quietUntil: Date | null;
};

export type AskedGroup = { id: string; hasSlack: boolean; hasTeams: boolean };

export type AskedState = {
  /** Pending and in time. Otherwise nobody is asked any more. */
  isOpen: boolean;
  /** The channels that the caller allows; null allows all. */
  channels: readonly string[] | null;
  /** Those who may vote just now, and haven't. */
  people: readonly AskedPerson[];
  groups: readonly AskedGroup[];
};

export type WantedMessage = {
  channel: MessageChannelName;
  /** The address of a person, or the id of a group. */
  target: string;
  groupId: string | null;
  /** It is not sent before; null is at once. */
  heldUntil: Date | null;
};

export type WantedMessages = {
  messages: WantedMessage[];
  /** Addresses that no message reaches: their mail must not wait for one. */
  unreached: string[];
};

/** `asks` says that the news asks somebody: only then is anybody's device told. */
export function wantedMessages(state: AskedState, asks: boolean): WantedMessages {
  if (!state.isOpen) return { messages: [], unreached: [] };
  const groupMessages = state.groups.flatMap((group) => messagesToGroup(state, group));
  const inGroups = new Set(groupMessages.map(({ target }) => target));
  const told = state.people.map((person) => {
    const messages = messagesToPerson(state, person);
    return { person, messages };
  });
  const unreached = told
    .filter(({ person, messages }) => {
      const isInGroup = person.groupIds.some((id) => id !== null && inGroups.has(id));
      return messages.length === 0 && !isInGroup;
    })
    .map(({ person }) => person.email);
  const messages = [...groupMessages, ...told.flatMap((each) => each.messages)];
  return { messages: messages.filter(({ channel }) => asks || channel !== "push"), unreached };
}

function messagesToGroup(state: AskedState, { id, hasSlack, hasTeams }: AskedGroup) {
  const channels: MessageChannelName[] = [];
  if (hasSlack && allowsSlack(state)) channels.push("slack");
  if (hasTeams && allows(state, "teams")) channels.push("teams");
  // A channel is nobody's pocket: quiet hours don't hold it.
  return channels.map(
    (channel): WantedMessage => ({ channel, target: id, groupId: id, heldUntil: null }),
  );
}

function messagesToPerson(state: AskedState, person: AskedPerson): WantedMessage[] {
  const { email: target, quietUntil: heldUntil } = person;
  const channels: MessageChannelName[] = [];
  if (person.hasSlack && allowsSlack(state) && !isAskedInSlackChannels(state, person)) {
    channels.push("slack");
  }
  if (person.hasPush && allows(state, "push")) channels.push("push");
  return channels.map((channel): WantedMessage => ({ channel, target, groupId: null, heldUntil }));
}

/** Whoever reads the channel of each group that is asked needs no message of their own. */
function isAskedInSlackChannels({ groups }: AskedState, { groupIds }: AskedPerson): boolean {
  const inSlack = new Set(groups.filter(({ hasSlack }) => hasSlack).map(({ id }) => id));
  return groupIds.every((id) => id !== null && inSlack.has(id));
}

function allowsSlack(state: AskedState): boolean {
  return allows(state, "slack") || allows(state, "slack_link");
}

function allows({ channels }: AskedState, channel: string): boolean {
  return channels === null || channels.includes(channel);
}
