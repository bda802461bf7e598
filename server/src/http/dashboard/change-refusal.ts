// How the dashboard tells why a change was refused: operations speak in clauses, which the command line puts behind
// its own words; people read sentences.

import type { ChangeRefusal } from "../../domain/refusal.ts";
import type { DashboardRefusal } from "./visit.ts";

export function tellRefusal(refused: ChangeRefusal): DashboardRefusal {
  if (refused.field !== undefined) return refused;
  const { message } = refused;
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return { ...refused, message: /[.!?]$/.test(sentence) ? sentence : `${sentence}.` };
}
