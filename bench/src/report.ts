// The figures as text: how a value, a spread and a target are written everywhere, and the table for the terminal.

import { availableParallelism, cpus, totalmem } from "node:os";
import {
  type Figure,
  isMet,
  ratioOf,
  type Spread,
  spreadOf,
  type Target,
  type Unit,
} from "./figure.ts";

/** One run, as it is kept. */
export type Results = {
  /** When it began, in ISO 8601. */
  at: string;
  commit: string;
  machine: string;
  /** The arguments of the command line. */
  options: string;
  figures: Figure[];
};

/** Lines that belong together, and what most of them are measured against. */
export type Group = { work: string; against: string | null; figures: Figure[] };

const unitSuffixes: Readonly<Record<Unit, string>> = {
  "per second": "/s",
  ms: " ms",
  s: " s",
  MB: " MB",
  "queries per second": " queries/s",
};
const terminalColumns = 120;
const gap = "  ";
const indent = "  ";
/** A line's name gets fewer columns only where the figures take more than the rest of the terminal. */
const labelColumnsMin = 16;
const digitsMax = 6;
const nothing = "–";

type Column = { name: string; align: "start" | "end"; cell: (figure: Figure) => string };

const columns: readonly Column[] = [
  { name: "ours", align: "end", cell: oursText },
  { name: "spread", align: "end", cell: ({ ours }) => spreadText(spreadOf(ours), ours.length) },
  { name: "p50/p99 ms", align: "end", cell: (figure) => waitedText(figure, "/") },
  { name: "ceiling", align: "end", cell: ceilingText },
  { name: "ratio", align: "end", cell: (figure) => ratioText(figure, "") },
  { name: "spread", align: "end", cell: ratioSpreadText },
  { name: "target", align: "start", cell: ({ target, unit }) => targetText(target, unit) },
  { name: "", align: "start", cell: stateText },
];

export function tableOf(figures: Figure[]): string {
  const shown = columns.filter(({ cell }) => figures.some((figure) => cell(figure) !== ""));
  const widths = shown.map(({ name, cell }) =>
    Math.max(name.length, ...figures.map((figure) => cell(figure).length)),
  );
  const groups = groupsOf(figures);
  const labels = groups.flatMap((group) => group.figures.map((each) => labelOf(each, group)));
  const longest = Math.max(0, ...labels.map((label) => indent.length + label.length));
  const left = terminalColumns - widths.reduce((sum, width) => sum + gap.length + width, 0);
  const first = Math.min(longest, Math.max(left, labelColumnsMin));
  const lines = groups.flatMap((group) => [
    "",
    headingOf(group),
    ...group.figures.flatMap((figure) => {
      const label = `${indent}${labelOf(figure, group)}`;
      const line = lineOf(shown, widths, ({ cell }) => cell(figure));
      // One that is too long stands above its figures.
      const isLong = label.length > first;
      return isLong ? [label, " ".repeat(first) + line] : [label.padEnd(first) + line];
    }),
  ]);
  const header = " ".repeat(first) + lineOf(shown, widths, ({ name }) => name);
  return [header, ...lines, "", summaryOf(figures)].join("\n");
}

/** How many targets are met, and the names of those that are not. */
export function summaryOf(figures: Figure[]): string {
  const missed = missedOf(figures).map(nameOf);
  const names = missed.length === 0 ? "." : `; NOT MET: ${missed.join("; ")}.`;
  return `${countText(figures)}${names}`;
}

export function countText(figures: Figure[]): string {
  const held = figures.filter(({ target }) => target !== null);
  const met = held.length - missedOf(held).length;
  return `${met} of ${held.length} targets met`;
}

export function missedOf(figures: Figure[]): Figure[] {
  return figures.filter((figure) => isMet(figure) === false);
}

/** Groups stand in the order in which their works first appear. */
export function groupsOf(figures: Figure[]): Group[] {
  const works = [...new Set(figures.map(({ work }) => work))];
  return works.map((work) => {
    const own = figures.filter((each) => each.work === work);
    return { work, against: usualCeiling(own), figures: own };
  });
}

/** The name that more than half of them have. */
function usualCeiling(figures: Figure[]): string | null {
  const names = figures.flatMap(({ ceiling }) => (ceiling === null ? [] : [ceiling.name]));
  const timesOf = (name: string) => names.filter((each) => each === name).length;
  return names.find((name) => timesOf(name) * 2 > figures.length) ?? null;
}

export function headingOf({ work, against }: Group): string {
  return against === null ? work : `${work}, against ${against}`;
}

/** Within its group: the variant, and what it is measured against where that is not the group's. */
export function labelOf({ variant, ceiling }: Figure, { against }: Group): string {
  if (ceiling === null || ceiling.name === against) return variant;
  return variant === "" ? `against ${ceiling.name}` : `${variant}, against ${ceiling.name}`;
}

export function nameOf({ work, variant }: Figure): string {
  return variant === "" ? work : `${work}, ${variant}`;
}

export function capitalised(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

export function oursText({ ours, unit, target }: Figure): string {
  return valueText(spreadOf(ours).median, unit, target?.of === "value" ? target : null);
}

export function ratioText(figure: Figure, suffix = " ×"): string {
  const ratio = ratioOf(figure);
  if (ratio === null) return "";
  const { target } = figure;
  return `${numberText(ratio.median, target?.of === "ratio" ? target : null)}${suffix}`;
}

export function ratioSpreadText(figure: Figure): string {
  const ratio = ratioOf(figure);
  return ratio === null ? "" : spreadText(ratio, figure.ours.length);
}

/** Least and most of the rounds, where there is more than one. */
export function spreadText({ min, max }: Spread, rounds: number): string {
  return rounds < 2 ? "" : `${numberText(min)}–${numberText(max)}`;
}

export function waitedText({ waited }: Figure, between = " / "): string {
  return waited === null ? "" : `${numberText(waited.p50)}${between}${numberText(waited.p99)}`;
}

/** "≥ 0.8 ×", "≤ 10 ms". */
export function targetText(target: Target | null, unit: Unit): string {
  if (target === null) return "";
  const [sign, limit] = "atLeast" in target ? ["≥", target.atLeast] : ["≤", target.atMost];
  const suffix = target.of === "ratio" ? " ×" : unitSuffixes[unit];
  return `${sign} ${limit.toLocaleString("en", { maximumFractionDigits: digitsMax })}${suffix}`;
}

/** A word, so that nobody needs a colour to see it. */
export function stateText(figure: Figure): string {
  const met = isMet(figure);
  if (met === null) return "";
  return met ? "met" : "NOT MET";
}

export function valueText(value: number, unit: Unit, target: Target | null = null): string {
  return `${numberText(value, target)}${unitSuffixes[unit]}`;
}

/** About three digits, and more where fewer would say that a missed target is met. */
export function numberText(value: number, target: Target | null = null): string {
  if (!Number.isFinite(value)) return nothing;
  const isMissed = (shown: number) => target !== null && !meets(shown, target);
  let digits = digitsFor(Math.abs(value));
  while (digits < digitsMax && isMissed(value) && !isMissed(Number(value.toFixed(digits)))) {
    digits += 1;
  }
  return value.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

export function describeMachine(postgresVersion: string): string {
  const model = cpus()[0]?.model ?? process.arch;
  const memoryGib = Math.round(totalmem() / 2 ** 30);
  return `${availableParallelism()} cores (${model}), ${memoryGib} GiB, Node ${process.version}, PostgreSQL ${postgresVersion}`;
}

function meets(value: number, target: Target): boolean {
  return "atLeast" in target ? value >= target.atLeast : value <= target.atMost;
}

function digitsFor(size: number): number {
  if (size === 0 || size >= 100) return 0;
  if (size >= 10) return 1;
  return size >= 0.1 ? 2 : 3;
}

export function ceilingText({ ceiling, unit }: Figure): string {
  if (ceiling === null) return "";
  return valueText(spreadOf(ceiling.rounds).median, unit);
}

function lineOf(shown: Column[], widths: number[], textOf: (column: Column) => string): string {
  return shown
    .map((column, at) => {
      const text = textOf(column);
      const width = widths[at] ?? 0;
      return gap + (column.align === "start" ? text.padEnd(width) : text.padStart(width));
    })
    .join("")
    .trimEnd();
}
