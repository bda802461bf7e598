// Collects what deserves attention before deciding: first what blocks Approve, then the findings.

import type { JsonPath } from "../../../../server/src/domain/shown/json-tree.ts";
import type { Review } from "../../../../server/src/wire/review-contract.ts";
import { lead } from "../../look/lead.ts";
import { words } from "../../look/words.ts";
import type { FieldDraft } from "../../payload/draft.ts";
import type { DraftState } from "../../payload/draft-state.ts";
import { keyOf } from "../../payload/folding.ts";
import { pathName } from "../../payload/path-name.ts";
import type { AttentionItem } from "./attention.tsx";
import { currentFindings } from "./current-findings.ts";
import type { Sentence } from "./finding-sentences.ts";
import type { Place } from "./findings.ts";

type AttentionFacts = {
  review: Review;
  /** The payload as it would be executed now; null if there is none. */
  payload: string | null;
  state: DraftState;
  unseen: number;
  /** Values that are being edited and not yet kept. */
  openFields: readonly FieldDraft[];
  /** Whether a reload would restore the typing. */
  isKept: boolean;
  isSoon: boolean;
  goTo: (path: JsonPath) => void;
  openAll: () => void;
  edit: () => void;
};

export function attentionItems(facts: AttentionFacts): AttentionItem[] {
  const { review, payload, state, unseen, openFields, isKept, isSoon, goTo, openAll, edit } = facts;
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
  for (const { kind, total, listed, firstMore } of currentFindings(review, payload)) {
    const places = listed.map(({ sentence, place }) => ({
      sentence,
      onGo: () => goToPlace(place),
    }));
    const onGoFurther = firstMore === null ? null : () => goToPlace(firstMore);
    const title = words.found.groups[kind];
    const group = { title, places, onGoFurther };
    add(kind, title, () => places[0]?.onGo(), { places: total, group });
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
