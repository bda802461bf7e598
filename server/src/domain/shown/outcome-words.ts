// The outcome of an attempt as a sentence: what happened and, if somebody can act, what to do.

import { type DestinationKind, destinationWords } from "./destination.ts";

type Told = { outcome: string | null; httpStatus: number | null };

export function outcomeSentence(kind: DestinationKind, { outcome, httpStatus }: Told): string {
  if (outcome === null) return "Not tried yet.";
  if (outcome === "http_status" && httpStatus !== null) return statusSentence(httpStatus);
  const sentences: Readonly<Record<string, string>> = destinationWords[kind].sentences;
  // A newer service may know more words than this page.
  return Object.hasOwn(sentences, outcome)
    ? (sentences[outcome] ?? outcome)
    : `Ended with “${outcome.replaceAll("_", " ")}”.`;
}

function statusSentence(status: number): string {
  const meaning = statusMeanings[status] ?? classMeanings[Math.floor(status / 100)];
  const answered = `Answered with HTTP ${status}`;
  return meaning === undefined ? `${answered}.` : `${answered}: ${meaning}`;
}

const statusMeanings: Record<number, string> = {
  400: "your server did not understand the webhook.",
  401: "your server asks for credentials, which webhooks don’t have. Check the signature instead.",
  403: "your server forbids it. A firewall or bot protection may stand in front.",
  404: "nothing is at this address. Check the path.",
  405: "the address takes no POST.",
  410: "your server says that the address is gone for good.",
  413: "the body is larger than your server accepts.",
  429: "your server asks us to slow down.",
  502: "the server behind your proxy could not be reached.",
  503: "your server is not available just now.",
  504: "the server behind your proxy took too long.",
};

const classMeanings: Record<number, string> = {
  1: "not a final answer.",
  3: "not a status that confirms the webhook.",
  4: "your server refused the webhook.",
  5: "your server failed while handling the webhook.",
};
