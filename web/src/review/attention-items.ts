// Puts together what deserves attention before deciding: what blocks Approve first, then what was found.

import type { Review } from "../../../sdk/src/review-contract.ts";
import type { JsonPath } from "../../../server/src/domain/json-tree.ts";
import type { AttentionItem } from "./attention.tsx";
import type { DraftState } from "./payload/draft-state.ts";
import { describeFinding, findingsOf } from "./payload/findings.ts";
import { words } from "./words.ts";

type AttentionFacts = {
  review: Review;
  state: DraftState;
  unseen: number;
  isSoon: boolean;
  goTo: (path: JsonPath) => void;
  openAll: () => void;
  edit: () => void;
};

export function attentionItems(facts: AttentionFacts): AttentionItem[] {
  const { review, state, unseen, isSoon, goTo, openAll, edit } = facts;
  const items: AttentionItem[] = [];
  const add = (key: string, text: string, onGo: () => void, more: Partial<AttentionItem> = {}) =>
    items.push({ key, text, onGo, isBlocking: false, isOwn: false, ...more });
  if (state.kind === "refused") add("broken", state.mistake.message, edit, { isBlocking: true });
  if (unseen > 0) add("unseen", words.unopened(unseen), openAll, { isBlocking: true });
  if (isSoon) add("soon", words.expiringSoon, () => lead("decision"));
  findingsOf(review).forEach((finding, at) => {
    const { place } = finding;
    const go = place.kind === "field" ? () => lead(place.id) : () => goTo(place.path);
    add(`finding ${at}`, describeFinding(finding), go);
  });
  if (state.kind === "changed") {
    const [first] = state.changes;
    const path = first?.kind === "removed" ? first.path.slice(0, -1) : (first?.path ?? []);
    add("changed", words.changed(state.changes.length), () => goTo(path), { isOwn: true });
  }
  return items;
}

/** Scrolls to a part of the page and puts the focus there. */
export function lead(id: string): void {
  const element = document.getElementById(id);
  element?.scrollIntoView({ block: "center" });
  element?.focus({ preventScroll: true });
}
