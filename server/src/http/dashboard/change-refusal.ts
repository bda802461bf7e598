// Turns the refusal of a change into a sentence for the dashboard. Operations answer in clauses, because the command
// line puts its own words before them.

import type { ChangeRefusal } from "../../domain/refusal.ts";
import type { DashboardRefusal } from "./visit.ts";

export function tellRefusal(refused: ChangeRefusal): DashboardRefusal {
  if (refused.field !== undefined) return refused;
  const { message } = refused;
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return { ...refused, message: /[.!?]$/.test(sentence) ? sentence : `${sentence}.` };
}
