// The filters of the dashboard's lists, as their addresses hold them, and the file that an export answers.

import type { ApprovalStatus } from "../../../sdk/src/contract.ts";

export type RequestFilter = {
  status?: ApprovalStatus;
  /** Exactly this name; empty for requests without one. */
  agent?: string;
  /** An address, or group:<key>. */
  approver?: string;
  /** Created at or after, and before. */
  from?: string;
  to?: string;
  /** The address of the person who approved or rejected, and when: at or after, and before. */
  decidedBy?: string;
  decidedFrom?: string;
  decidedTo?: string;
  /** The address of a person who can still decide or vote: pending requests only. */
  waitingFor?: string;
  /** More people were asked, because a stage stayed open. */
  escalated?: "yes";
  /** Too few people are left, or no mail of the open stage could be delivered. */
  unreachable?: "yes";
  /** Words, or the beginnings of words, of all that a request says; or an id or its beginning. */
  search?: string;
  /** Newest first by default. By expiry only pending requests are listed, those that expire next first. */
  sort?: "newest" | "oldest" | "expiry";
  cursor?: string;
};

/** A list as a file. Its lines are streamed, so the answer is not JSON as a whole. */
export type ExportFilter = Omit<RequestFilter, "cursor"> & { format: "csv" | "jsonl" };

export type DeliveryState = "due" | "delivered" | "failed" | "skipped";

export type DeliveryFilter = {
  endpoint?: string;
  state?: DeliveryState;
  event?: string;
  /** Created at or after, and before. */
  from?: string;
  to?: string;
  cursor?: string;
};

/** A file that the browser saves: the page only names its address. */
export type FileDownload = { file: ReadableStream<Uint8Array>; name: string; type: string };
