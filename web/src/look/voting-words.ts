// The review page's words where several people decide, or somebody passes their vote on. Addresses and names of stages
// stand between them and are never part of them.

export const votingWords = {
  label: "Approvals so far",
  headings: {
    approved: "You approved this",
    rejected: "You rejected this",
    neededLater: (stage: number) => `You are needed in stage ${stage}`,
    handedOver: "You handed this over",
    seatTaken: "Approved in your place",
    stuck: "This can’t be approved any more",
    later: (stage: number) => `You are asked later, in stage ${stage}`,
    earlier: (stage: number) => `Stage ${stage} is complete`,
    notAsked: "You can’t decide this request",
  },
  waitingForOthers: "Waiting for others",

  /** Approvals of the open stage. */
  count: ({ given, required }: { given: number; required: number }) => `${given} of ${required}`,
  counted: { payload: "approved this exact payload", request: "approved this request" },
  stage: (stage: number, stages: number) => `Stage ${stage} of ${stages}`,
  soFar: (count: string, stage: string) => `${stage}${count} approved.`,
  /** Before a count, where there are several stages: people of others may have approved the same text. */
  countedIn: (stage: number) => `Stage ${stage}: `,
  you: "You",
  inPlaceOf: "in place of",
  moreVotes: (count: number) => `and ${count} more`,
  stages: "Approvals",
  stageStates: { complete: "Complete", open: "Open now", later: "Later" },
  nobodyYet: "Nobody so far",

  /** Sentences about what comes next. A name follows what ends in a space. */
  more: (count: number) => `${count} more ${people(count)}`,
  of: " of ",
  inStage: (stage: number) => ` in stage ${stage}, `,
  mustApprove: " must approve",
  thenBefore: "; then ",
  alsoThen: ", then ",
  isAsked: " is asked",
  end: ".",

  place: {
    inPlaceOf: "You decide in place of ",
    countOnce: ". The two of you count as one person.",
    recorded: "Your approval is recorded. ",
    recordedFor: "Your approval in place of ",
    isRecorded: " is recorded. ",
    rejection: "Your rejection is recorded.",
    neededIn: (stage: number) => `You are needed in stage ${stage}, `,
    somebodyElse: "; somebody else",
    mustApproveHere: " must approve here. You can still reject.",
    gaveTo: "You gave this to ",
    notYours: ". You can’t decide it any more.",
    approvedAlready:
      " approved already. You share one approval, so there is nothing to do for you.",
    askedOnce: (stage: number) => `You’ll get a mail once stage ${stage} is complete.`,
    earlier: (stage: number) => `Stage ${stage} is open now. Your approval isn’t needed for it.`,
    notAsked: "You are not asked about it just now.",
  },
  stuck:
    "Too few different people are left who can approve this, so nothing is approved. The owners of the workspace know.",

  /** Somebody edited: their address stands before. */
  changedPayload: " changed the agent’s payload",
  differs: (count: number) =>
    `${count} ${count === 1 ? "difference" : "differences"} from what the agent sent:`,
  sameAsAgents: "It is what the agent sent.",
  earlierChanges: "Changed by an earlier approver",
  outdated: {
    before: "Your approval of ",
    after: " no longer counts: ",
    changed: " changed the payload ",
    somebody: "somebody changed the payload.",
  },
  restoreValue: (path: string) => `Restore ${path} to what it was`,

  newText: {
    label: "The payload changed",
    somebody: "Somebody",
    changed: " changed the payload while you had it open. The text below is no longer current.",
    yours: "Your changes are the current text now.",
    outdated: "Your approval no longer counts.",
    kept: "Nothing you typed is lost.",
    show: "Show the new text",
    loading: "Loading …",
    first: "The payload changed, so nothing can be decided about this text.",
  },
  earlier: {
    hint: "It was typed for an earlier text of the payload, so it isn’t used.",
    use: "Use my text",
    discard: "Discard it",
  },

  onlyReject: "A later stage needs your approval, so you can only reject here.",
  confirm: {
    /** What follows from an approval stands behind these. */
    counts: "Your approval counts for exactly this payload. ",
    countsNoPayload: "Your approval counts for what the agent describes. ",
    last: "You are the last one who must approve: the agent will run exactly this payload.",
    lastNoPayload: "You are the last one who must approve: the agent will do what it describes.",
    changed: (changes: string) => `With your ${changes} it is a new text. `,
    voids: (count: number) =>
      `${count} earlier ${count === 1 ? "approval no longer counts" : "approvals no longer count"}. `,
    needs: (count: number) =>
      `${count} more ${count === 1 ? "approval is" : "approvals are"} needed for it.`,
    needsNone: "The agent will run it.",
    reject: "One rejection ends the request for everybody. The agent will be told not to do this.",
  },

  handOver: {
    open: "Hand over",
    title: "Hand this over?",
    what: "A colleague decides instead of you. They get a mail with a link of their own.",
    inPlaceOf: "You hand over the decision in place of ",
    inPlaceOfEnd: ".",
    loading: "Loading your colleagues …",
    retry: "Try again",
    off: "Handing over is turned off in this workspace.",
    search: "Colleague",
    searchHint: "Type a part of the address, or all of it.",
    typeWhole: "Type the whole address of a colleague in the workspace.",
    more: (count: number) => `${count} more. Type to find them.`,
    list: "Colleagues",
    chooseFirst: "Choose a colleague first.",
    tickBefore: "I hand this over to ",
    tickAfter: ". It can’t be taken back.",
    notPassedOn: "Your note and your changes aren’t passed on.",
    yes: "Yes, hand over",
    untold:
      "We can’t tell whether it was handed over, because no answer came back. We’re checking …",
    notArrived: "It hasn’t been handed over so far. Try again.",
  },
} as const;

function people(count: number): string {
  return count === 1 ? "person" : "people";
}
