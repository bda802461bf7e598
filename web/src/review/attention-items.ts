// Puts together what deserves attention before deciding: what blocks Approve first, then what was found.

import type { Review } from "../../../sdk/src/review-contract.ts";
import type { JsonPath } from "../../../server/src/domain/json-tree.ts";
import type { AttentionItem } from "./attention.tsx";
import type { FieldDraft } from "./draft.ts";
import { lead } from "./lead.ts";
import type { DraftState } from "./payload/draft-state.ts";
import {
  describeFinding,
  type Findings,
  findingsOf,
  type Place,
  type Sentence,
} from "./payload/findings.ts";
import { keyOf } from "./payload/folding.ts";
import { pathName } from "./payload/path-name.ts";
import { words } from "./words.ts";

type AttentionFacts = {
  review: Review;
  state: DraftState;
  unseen: number;
  /** Values that are being edited and not yet kept. */
  openFields: readonly FieldDraft[];
  /** Whether a reload would bring back what was typed. */
  isKept: boolean;
  isSoon: boolean;
  goTo: (path: JsonPath) => void;
  openAll: () => void;
  edit: () => void;
};

export function attentionItems(facts: AttentionFacts): AttentionItem[] {
  const { review, state, unseen, openFields, isKept, isSoon, goTo, openAll, edit } = facts;
  const items: AttentionItem[] = [];
  const add = (
    key: string,
    said: string | Sentence,
    onGo: () => void,
    more: Partial<AttentionItem> = {},
  ) => {
    const sentence = typeof said === "string" ? [said] : said;
    items.push({ key, sentence, places: 1, onGo, isBlocking: false, isOwn: false, ...more });
  };
  const goToPlace = (place: Place) => (place.kind === "field" ? lead(place.id) : goTo(place.path));
  if (state.kind === "refused") add("broken", broken(state), edit, { isBlocking: true });
  if (unseen > 0) add("unseen", words.unopened(unseen), openAll, { isBlocking: true });
  for (const { path } of openFields) {
    const said: Sentence = [words.unkept, { quoted: [{ text: pathName(path) }] }];
    add(`field ${keyOf(path)}`, said, () => goTo(path), { isBlocking: true, isOwn: true });
  }
  if (!isKept) add("unsaved", words.unsaved, () => lead("payload"), { isOwn: true });
  if (isSoon) add("soon", words.expiringSoon, () => lead("decision"));
  const { listed, more, isAll, firstMore } = knownFindings(review);
  listed.forEach(({ sentence, place }, at) => {
    add(`finding ${at}`, sentence, () => goToPlace(place));
  });
  if (firstMore !== null) {
    add("more", words.notListed(more, isAll), () => goToPlace(firstMore), { places: more });
  }
  if (state.kind === "changed") {
    const [first] = state.changes;
    const path = first?.kind === "removed" ? first.path.slice(0, -1) : (first?.path ?? []);
    add("changed", words.changed(state.changes.length), () => goTo(path), { isOwn: true });
  }
  return items;
}

/** The editor says more, but with the names of keys, which may be the agent's. */
function broken({ mistake }: Extract<DraftState, { kind: "refused" }>): string {
  return mistake.isNull === true ? mistake.message : words.approveBlocked.broken;
}

type Described = Omit<Findings, "listed"> & {
  listed: { sentence: Sentence; place: Place }[];
};

/** What a request says never changes, while the list is put together whenever the approver opens or edits something. */
const known = new Map<string, Described>();

function knownFindings(review: Review): Described {
  const before = known.get(review.id);
  if (before !== undefined) return before;
  const findings = findingsOf(review);
  const listed = findings.listed.map((finding) => ({
    sentence: describeFinding(finding),
    place: finding.place,
  }));
  const described = { ...findings, listed };
  known.set(review.id, described);
  return described;
}
