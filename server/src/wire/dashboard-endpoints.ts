// Webhook endpoints, as the service tells them to the dashboard.

import type { EndpointEventKind } from "../../../sdk/src/contract.ts";

export type Endpoint = {
  id: string;
  /** Left out while it has none. */
  name?: string;
  url: string;
  /** Null is every kind. */
  eventKinds: EndpointEventKind[] | null;
  createdAt: string;
  /** Only of a deleted one, whose history can still be read. */
  deletedAt?: string;
  disabledAt: string | null;
  disabledReason: string | null;
  failingSince: string | null;
};

/** The secret is shown this once. */
export type EndpointWithSecret = Endpoint & { secret: string };

export type EndpointDetail = Endpoint & {
  /** The last 14 UTC days, oldest first, days without any attempt included. */
  perDay: {
    day: string;
    succeeded: number;
    failed: number;
    medianMs: number | null;
    p90Ms: number | null;
  }[];
  /** How many deliveries failed or were skipped and can be sent again, up to `unsuccessfulCountMax`. */
  unsuccessful: { count: number; isMore: boolean; since: string | null };
};
