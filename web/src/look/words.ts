// The words of the review page's own voice; those about votes are in voting-words.ts. Words of agents and approvers are never
// in here.

import { othersWaitingMax } from "../../../server/src/domain/shown/field-limits.ts";
import type { ShownTextName } from "../../../server/src/domain/shown/submitted-fields.ts";
import type { ReviewOutcome } from "../../../server/src/wire/review-contract.ts";
import { votingWords } from "./voting-words.ts";

const headings = {
  APPROVED: "This request was approved",
  REJECTED: "This request was rejected",
  EXPIRED: "This request expired",
  CANCELLED: "This request was cancelled",
} as const;

const outcomeWords = {
  APPROVED: "Approved",
  REJECTED: "Rejected",
  EXPIRED: "Expired",
  CANCELLED: "Cancelled",
} as const;

export const words = {
  brand: "countersign",
  skip: "Skip to the decision",
  title: "Review request",
  pageTitle: (status: ReviewOutcome["status"] | null) =>
    `${status === null ? "Review request" : outcomeWords[status]} · Countersign`,
  heading: (status: ReviewOutcome["status"] | null) =>
    status === null ? "Your approval is needed" : headings[status],
  agentWrote: "The agent wrote",
  approverWrote: "The approver wrote",
  agentName: "Agent name, unverified",
  agentUnnamed: "Unnamed agent",
  workspace: "Workspace",
  asked: "Asked",
  timeLeft: "Decide by",
  requestId: "Request ID",
  alsoWaiting: "Also waiting",
  others: (count: number) =>
    `${countUpTo(count, othersWaitingMax)} other ${count === 1 ? "request" : "requests"}`,
  othersWait: (count: number) =>
    `${countUpTo(count, othersWaitingMax)} other ${count === 1 ? "request waits" : "requests wait"} for you in this workspace. The links are in your mail.`,
  toInbox: "All of them are in your inbox",
  details: "Details",
  you: "You",
  memberOf: "member of",
  reasoning: "Why",
  recentActions: "Recent actions",
  foldedLines: (count: number) => `Show ${number(count)} more ${count === 1 ? "line" : "lines"}`,
  foldAgain: "Show less",
  payload: "What will be executed",
  payloadWas: "What was approved",
  payloadWasAsked: "What was asked for",
  noPayload: "The agent sent no payload. Your decision is about the words above alone.",
  views: "View of the payload",
  readable: "Readable",
  raw: "JSON",
  edit: "Edit",
  wholeOnPaper: "All of it, as JSON:",
  copy: "Copy",
  copied: "Copied",
  copyPayload: "Copy the JSON",
  copyValue: (path: string) => `Copy ${path}`,
  editValue: (path: string) => `Edit ${path}`,
  newValue: (path: string) => `New value of ${path}`,
  keep: "Keep",
  cancel: "Cancel",
  restore: "Restore",
  restoreValue: (path: string) => `Restore ${path} to what the agent sent`,
  marks: { changed: "edited", added: "added", removed: "removed", reordered: "other order" },
  added: "added",
  removed: "removed",
  was: "was",
  wholePayload: "the whole payload",
  emptyString: "empty text",
  emptyKey: "empty key",
  emptyObject: "empty object",
  emptyArray: "empty list",
  object: (count: number) => `${number(count)} ${count === 1 ? "field" : "fields"}`,
  array: (count: number) => `${number(count)} ${count === 1 ? "item" : "items"}`,
  level: (depth: number) => `level ${depth}`,
  text: "text",
  foldedPart: (count: number) =>
    `${number(count)} ${count === 1 ? "value" : "values"} not opened yet`,
  showMore: (count: number) => `Show ${number(count)} more`,
  showRest: (count: number) => `Show all ${number(count)} that remain`,
  showText: (count: number) => `Show the other ${number(count)} characters`,
  openAll: "Open everything",
  opening: ({ drawn, all }: { drawn: number; all: number }) =>
    drawn === all ? "Opening …" : `Opening … ${number(drawn)} of ${number(all)}`,
  stopOpening: "Stop",

  editor: {
    label: "Payload as JSON",
    hint: "Numbers, order and spelling are kept exactly as you type them.",
    loading: "Loading the editor …",
    failed:
      "The editor could not be loaded. Check the connection and try again; nothing you typed is lost.",
    retry: "Try again",
    format: "Format",
    undo: "Undo",
    redo: "Redo",
    reset: "Reset",
    goTo: "Go there",
    brokenHint: "You can’t approve it like this. Your text is kept.",
    isNull:
      "The payload cannot be edited to null: null means “not edited”, so the agent would run its original payload. Use {} for an empty payload, or reject the request.",
    duplicateKey: (path: string) =>
      `The key ${path} is there twice. Two programs could read two different values, so it must be there once.`,
    tooDeep: (path: string) => `${path} is nested too deep: 128 levels are allowed.`,
  },
  inPlace: {
    notANumber: "This is not a number as JSON knows it, such as 12, -0.5 or 1.2e6.",
    newLineHint: "Enter adds a line. Ctrl + Enter keeps the text.",
  },

  attention: "Before you decide",
  unopened: (count: number) =>
    `${number(count)} ${count === 1 ? "value is" : "values are"} folded and not opened yet. Approve waits for that.`,
  // A place follows, which may have the agent's own name and is quoted then.
  hidden: (count: number) =>
    `${number(count)} hidden ${count === 1 ? "character" : "characters"} in `,
  longSpace: "A long stretch of white space in ",
  edgeSpace: { before: "White space at the edge of ", after: (spaces: string) => ` (${spaces})` },
  twins: { before: "Two names that look alike", in: " in ", colon: ": ", and: " and " },
  /** Warnings about the agent's words. The agent's words or the place follow, quoted. */
  found: {
    direction: (count: number) =>
      `${number(count)} hidden ${count === 1 ? "character turns" : "characters turn"} the text around in `,
    looksLike: " only looks like ",
    because: (scripts: string, count: number) => `: ${lettersOf(scripts, count)}`,
    mixes: (scripts: string) => ` mixes ${scripts} letters`,
    means: " means ",
    digits: (script: string) => `, in ${script} digits`,
    letterDigits: (letters: string) =>
      ` has the ${letters.length === 1 ? "letter" : "letters"} ${[...letters].join(", ")} among its digits. It reads like `,
    styled: ": it has special letter forms",
    foreignHost: " has foreign letters",
    goesTo: ". It goes to ",
    imitates: " is made to look like ",
    leads: {
      userInfo: " isn’t the site. The address goes to ",
      slashes: "An address with odd slashes goes to ",
      number: " is the network address ",
      break: "An address with a tab or line break in it goes to ",
    },
    backslash: "A backslash in an address works as a slash",
    pile: (count: number, names: string) =>
      `${number(count)} ${count === 1 ? "mark" : "marks"} on one letter (${names})`,
    struck: " is struck through, but still counts",
    enclosed: " has something drawn around it",
    and: (more: number) => (more === 0 ? ", in " : `, and ${number(more)} more, in `),
    imitation: {
      product: "The agent’s name looks like our own: ",
      workspace: "The agent’s name looks like your workspace’s: ",
      group: "The agent’s name looks like your group’s: ",
      approver: "The agent’s name holds your own address: ",
    },
    groups: {
      direction: "Turned text",
      hidden: "Hidden characters",
      address: "Addresses that aren’t what they seem",
      number: "Numbers that aren’t what they seem",
      lookAlike: "Look-alike letters",
      twin: "Names that look alike",
      imitation: "A name that imitates",
      pile: "Marks over letters",
      space: "White space",
    },
    placesIn: (count: number) => `${number(count)} places`,
    show: (count: number, left: number) =>
      count === left
        ? `Show ${number(count)} more`
        : `Show ${number(count)} of ${number(left)} more`,
    notListed: (count: number) =>
      `${number(count)} more ${count === 1 ? "place isn’t" : "places aren’t"} listed one by one. Go to the first`,
  },
  places: {
    texts: {
      summary: "the summary",
      agentName: "the agent’s name",
      reasoning: "the reasoning",
    } satisfies Record<ShownTextName, string>,
    recentAction: (at: number) => `recent action ${at}`,
    nameOf: (at: number, list: string) => `name ${at} of ${list}`,
    payload: "the payload",
    key: "the name of ",
  },
  lookFirst: (count: number) =>
    count === 1
      ? "One thing deserves a look first"
      : `${number(count)} things deserve a look first`,
  unkept: "Typed but not kept yet: ",
  unsaved: "Your text is too large to survive a reload of this page",
  changed: (count: number) => `You made ${changes(count)}`,
  changeCount: changes,
  expiringSoon: "Time is almost up",

  approve: "Approve",
  approveChanged: "Approve with changes",
  reject: "Reject",
  approveBlocked: {
    broken: "Fix the JSON first.",
    isNull: "The payload can’t be null.",
    unopened: "Open the folded parts first.",
    editing: "Keep or cancel the value you are editing first.",
    insecure:
      "This page was opened without encryption, so nothing can be decided here. Open the link over https; the operator of this service sets PUBLIC_URL.",
  },
  decision: "Your decision",
  twoSteps: "You’ll confirm in the next step.",
  readFirst: "Read to the end of the payload first.",

  confirm: {
    approveTitle: "Approve this request?",
    rejectTitle: "Reject this request?",
    approve: "The agent will run exactly this payload.",
    approveChanged: (count: number) =>
      `The agent will run this payload with your ${changes(count)}.`,
    approveNoPayload: "The agent will do what it describes. It sent no payload.",
    reject: "The agent will be told not to do this.",
    values: "What will be executed",
    moreValues: (count: number) =>
      `and ${number(count)} more ${count === 1 ? "value" : "values"} on the page`,
    moreCharacters: (count: number) =>
      `${number(count)} more ${count === 1 ? "character" : "characters"}`,
    changes: "Your changes",
    warnings: "Open warnings",
    moreWarnings: (count: number) =>
      `and ${number(count)} more ${count === 1 ? "place" : "places"} on the page`,
    tick: {
      approve: "I approve exactly this. It can’t be undone.",
      approveChanged: "I approve this with my changes. It can’t be undone.",
      reject: "I reject this request. It can’t be undone.",
    },
    tickFirst: "Tick the box first.",
    listFirst: "Show all changes first.",
    rejectDropsChanges: (count: number) =>
      `Your ${changes(count)} will not be sent: a rejection has no payload.`,
    note: "Note",
    noteHint: "Optional. The agent and its owners will read it.",
    noteTooLong: (over: number) =>
      `${number(over)} ${over === 1 ? "character" : "characters"} too long`,
    noteLeft: (left: number) => `${number(left)} characters left`,
    back: "Go back",
    yes: {
      approve: "Yes, approve",
      approveChanged: "Yes, approve with changes",
      reject: "Yes, reject",
    },
    sending: "Sending …",
    asking: "Checking …",
  },

  changeList: {
    label: "Changes",
    reordered: (path: string) => `${path}: order of the fields`,
    more: (count: number) => `Show ${number(count)} more changes`,
    to: "changed to",
    before: "before",
    after: "after",
  },

  outcome: {
    ...outcomeWords,
    pending: "Waiting for you",
    sentence: outcomeSentence,
    edited: (count: number) => `With ${changes(count)} to what the agent sent:`,
    typed: "What you had typed",
    typedApart: "This isn’t part of the decision above.",
    typedHint: "Copy what you still need; it is kept in this tab only.",
    typedNote: "Note",
    typedPayload: "Edited payload",
  },

  problem: {
    offline: "We can’t reach the service. Check your connection and try again.",
    unknown: "Something went wrong on our side. Try again in a moment.",
    /** A decision was sent, and no answer came. */
    untold:
      "We can’t tell whether your decision arrived, because no answer came back. We’re checking …",
    stillUntold:
      "We still can’t tell whether your decision arrived. Check your connection. We keep checking, and you can send it again: it never counts twice.",
    notArrived: "Your decision hasn’t been counted so far. Send it again.",
    gone: {
      link: "This link does not work any more: you may no longer be asked. It can’t tell you what became of the request.",
      inbox:
        "You are no longer asked about this request, so your inbox can’t tell you what became of it.",
    },
    goneUntold: {
      link: "This link does not work any more: you may no longer be asked. It can’t tell you whether your decision counted.",
      inbox:
        "You are no longer asked about this request. Your inbox can’t tell you whether your decision counted.",
    },
    signedOut:
      "Your session has ended, so nothing was sent. Go back and sign in again. Nothing you typed is lost.",
    tooLarge: "The edited payload is too large: with everything around it 4 MiB are allowed.",
  },
  tooLate: "Your decision came too late and was not counted.",
  earlierCounted: "Your earlier decision counted. The last one came too late.",

  voting: votingWords,

  code: {
    title: "Type the code from the mail",
    why: "asks for the six characters beside the link in the mail. You’ll see the request after that.",
    label: "Code",
    open: "Open the request",
    wrong: (left: number) =>
      left === 0
        ? "That’s not the code, and it was the last try."
        : `That’s not the code. ${number(left)} ${left === 1 ? "try" : "tries"} left.`,
    incomplete: "The code has six letters or digits.",
    lockedTitle: "This link is locked",
    locked:
      "Ten wrong codes were typed, so this link no longer works. Have the agent ask again, or let somebody else in the group decide.",
  },

  time: {
    over: "Time is up",
    left: (span: string) => `${span} left`,
    lessThan: (minutes: number) => `less than ${minutes} ${minutes === 1 ? "minute" : "minutes"}`,
    days: (count: number) => `${count} ${count === 1 ? "day" : "days"}`,
    hours: (count: number) => `${count} ${count === 1 ? "hour" : "hours"}`,
    minutes: (count: number) => `${count} ${count === 1 ? "minute" : "minutes"}`,
    showExact: "Show the exact time in UTC",
  },

  /** More about a mark on the agent's words, on demand. */
  marked: {
    titles: {
      mixes: (scripts: string) => `This word mixes ${scripts} letters.`,
      lookAlike: ({
        reads,
        scripts,
        count,
      }: {
        reads: string | null;
        scripts: string;
        count: number;
      }) => `Not the plain word ${reads}: ${lettersOf(scripts, count)}.`,
      digits: (script: string, reads: string) => `${script} digits. They mean ${reads}.`,
      letterDigits: (reads: string) => `Reads like ${reads}, but has letters in place of digits.`,
      styled: (reads: string) => `Special forms of letters or digits. They read ${reads}.`,
      host: (ascii: string) => `On the network this address is ${ascii}.`,
      leads: (host: string) => `This address goes to ${host}.`,
    },
  },
  order: {
    note: "right-to-left text, in stored order",
    title:
      "Holds right-to-left text. The parts stand from left to right in the order they are stored.",
  },
  chip: {
    spaces: (count: number) => `${number(count)} ${count === 1 ? "space" : "spaces"}`,
    blanks: (count: number) => `white space, ${number(count)} characters`,
    hidden: (code: string, name: string | null, count: number) =>
      `${count === 1 ? "Hidden character" : `${number(count)} hidden characters`} ${code}${name === null ? "" : `, ${name}`}`,
  },
} as const;

/** Counting stops at a limit, so there may be more. */
function countUpTo(count: number, max: number): string {
  return count < max ? number(count) : `${number(max)} or more`;
}

function changes(count: number): string {
  return `${number(count)} ${count === 1 ? "change" : "changes"}`;
}

function lettersOf(scripts: string, count: number): string {
  const kind = scripts === "Latin" ? "rare Latin" : scripts;
  return count === 1 ? `one letter is ${kind}` : `${number(count)} letters are ${kind}`;
}

/** The words are English, and so are the numbers in them. Making an Intl.NumberFormat takes a phone 60 ms. */
function number(count: number): string {
  return String(count).replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
}

/** `isPartly` if some approved the last text, but too few. */
function outcomeSentence({ status, byEmail, isYours }: ReviewOutcome, isPartly: boolean): string {
  const who = isYours ? "you" : (byEmail ?? "");
  switch (status) {
    case "APPROVED":
      return `Approved by ${who}`;
    case "REJECTED":
      return `Rejected by ${who}`;
    case "EXPIRED":
      return isPartly
        ? "Too few people approved in time, so nothing was approved"
        : "Nobody decided in time, so nothing was approved";
    case "CANCELLED":
      return "The request was cancelled, so nothing was approved";
    default:
      return status satisfies never;
  }
}
