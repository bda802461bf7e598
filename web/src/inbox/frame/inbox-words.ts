// The words of the inbox's own voice. Those about one request are the review page's.

export const inboxWords = {
  title: "Inbox",
  pageTitle: (count: number, isMore: boolean) =>
    count === 0 ? "Inbox · Countersign" : `(${count}${isMore ? "+" : ""}) Inbox · Countersign`,
  settingsTitle: "Settings · Inbox · Countersign",
  waiting: "Waiting",
  past: "Decided before",
  settings: "Settings",
  keys: "Keys",
  back: "Inbox",
  lists: "Lists",
  requests: "Requests",
  account: "Your account",

  newRequests: (count: number) => `${count} new ${count === 1 ? "request" : "requests"}`,
  notListed: "More requests wait. They appear here once you have decided some of these.",
  loading: "Loading your inbox …",
  trying: "We can’t reach the service just now. We keep trying.",
  offline: "You’re offline. Requests appear once you’re connected again.",
  tryAgain: "Try again",
  more: "Show more",

  empty: {
    title: "Nothing waits for you",
    what: "When an agent asks for your approval, the request appears here by itself. You get a mail as well.",
    how: "How you are asked",
  },
  emptyPast: {
    title: "Nothing decided so far",
    what: "Requests that you decided, and those that others decided or that expired, are kept here.",
  },
  choose: {
    title: "Choose a request to read it",
    none: "You’re done",
    keys: "Press ? for the keys.",
  },

  row: {
    workspace: "Workspace: ",
    agent: "Agent name, unverified: ",
    unnamed: "Unnamed agent",
    group: "as a member of ",
    for: "in place of ",
    progress: ({ stage, stages, approvals, required }: Progress) =>
      `${stages > 1 ? `Stage ${stage} of ${stages}: ` : ""}${approvals} of ${required} approved`,
    ended: "No longer waiting for you",
    others: "Waiting for others",
    byYou: "by you",
    by: "by ",
    decideBy: "Decide by: ",
  },

  request: {
    loading: "Loading the request …",
    notHere: "This request isn’t in your inbox",
    notHereWhy:
      "You were asked under another address, are no longer asked, or the link is cut off. Nothing was decided by opening it.",
    failed: "The request could not be loaded",
    next: "Next request",
    toList: "Back to the inbox",
    allDone: "Nothing else waits for you.",
  },

  // A note for several requests and unsaved settings go with the page.
  signedOut: "Your session has ended. What you typed about a single request is kept.",
  signIn: "Sign in again",

  select: {
    begin: "Select",
    end: "Done",
    several: "Decide the selected requests",
    row: (summary: string) => `Select: ${summary}`,
    count: (count: number) => `${count} selected`,
    none: "Select requests of one agent that you have read.",
    obstacle: {
      ended: "No longer waits for you",
      // Each on one line of a phone, because its room is kept.
      unread: "First read it to its end, without changes",
      needs_signature: "Needs your passkey: sign it on its own",
      other_agent: "From another agent than those you selected",
      too_many: "20 at most can be decided at once",
    },
    approve: (count: number) => (count === 0 ? "Approve" : `Approve ${count}`),
    reject: (count: number) => (count === 0 ? "Reject" : `Reject ${count}`),
  },

  several: {
    approveTitle: (count: number) => `Approve ${requests(count)}?`,
    rejectTitle: (count: number) => `Reject ${requests(count)}?`,
    approve:
      "Each of these was shown to you in full. The agent will run exactly what was shown, for each one that needs no other approval.",
    reject: "The agent will be told not to do any of these.",
    warnings: (count: number) =>
      `${count} ${count === 1 ? "thing" : "things"} deserved a look in it`,
    tick: {
      approve: (count: number) => `I approve exactly ${these(count)}. It can’t be undone.`,
      reject: (count: number) => `I reject ${these(count)}. It can’t be undone.`,
    },
    yes: {
      approve: (count: number) => `Yes, approve ${count}`,
      reject: (count: number) => `Yes, reject ${count}`,
    },
    note: "One note for all of them",
    resultTitle: "Your decisions",
    counted: (count: number, all: number) => `${count} of ${requests(all)} recorded.`,
    recorded: { approve: "Approved", reject: "Rejected" },
    waitsForOthers: "Your approval is recorded. It waits for others.",
    unknown: "No answer came back. We’re checking …",
    notCounted: "Not counted so far. If it still waits, decide it again.",
    done: "Close",
    gone: "You are no longer asked about it.",
    left: "Decided or expired by now. Your decision won’t count for it.",
  },

  keyList: {
    title: "Keys",
    what: "No key decides. A and R open the next step, where you confirm.",
    keys: [
      ["J", "Next request"],
      ["K", "Previous request"],
      ["Enter", "Open the request"],
      ["A", "Approve, in two steps"],
      ["R", "Reject, in two steps"],
      ["E", "Edit the payload"],
      ["Esc", "Back to the list"],
      ["?", "Show these keys"],
    ],
    use: "Use these keys",
    close: "Close",
  },
} as const;

type Progress = { stage: number; stages: number; approvals: number; required: number };

function requests(count: number): string {
  return `${count} ${count === 1 ? "request" : "requests"}`;
}

function these(count: number): string {
  return count === 1 ? "this request" : `these ${count} requests`;
}
