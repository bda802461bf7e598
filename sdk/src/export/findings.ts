// What a verifier of exports finds: each flaw by its place, as data for programs and as a sentence for people.

export type FindingCode =
  | "line_malformed"
  | "cut_off"
  | "date_wrong"
  | "key_invalid"
  | "entry_malformed"
  | "entry_missing"
  | "entry_inserted"
  | "entry_changed"
  | "entries_swapped"
  | "entry_out_of_order"
  | "root_differs"
  | "rolled_back"
  | "split_view"
  | "checkpoint_malformed"
  | "checkpoint_unsigned"
  | "checkpoint_hidden"
  | "tile_differs"
  | "opening_differs"
  | "opening_missing"
  | "era_differs"
  | "request_differs"
  | "request_missing"
  | "request_unknown"
  | "creation_twice"
  | "outcome_twice"
  | "deletion_differs"
  | "receipt_invalid"
  | "receipt_differs"
  | "installation_differs"
  | "witness_missing";

export type Finding = {
  code: FindingCode;
  message: string;
  origin?: string;
  /** The entry's place in its log. */
  index?: number;
  request?: string;
};

/** One cause may have thousands of consequences: the first of each kind are kept, and all are counted. */
const keptOfKindMax = 20;

export class Findings {
  readonly list: Finding[] = [];
  readonly notes: string[] = [];
  /** Without findings, reasons why nothing can be told. */
  readonly doubts: string[] = [];
  readonly #counts = new Map<FindingCode, number>();

  add(code: FindingCode, message: string, place: Omit<Finding, "code" | "message"> = {}): void {
    const count = (this.#counts.get(code) ?? 0) + 1;
    this.#counts.set(code, count);
    if (count <= keptOfKindMax) this.list.push({ code, message, ...place });
  }

  /** How many there are beyond those in the list. */
  get left(): number {
    const total = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    return total - this.list.length;
  }

  hasAny(origin: string, ...codes: FindingCode[]): boolean {
    return this.list.some((each) => each.origin === origin && codes.includes(each.code));
  }
}
