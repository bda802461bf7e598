// The figures as a picture: an SVG without scripts or fonts of its own, narrow and tall so that a phone shows it as it
// is. Every ratio stands against the line of its ceiling, every other value against its target. The exact number stands
// beside each mark, and all of it in words in the description.

import { escapeHtml } from "../../server/src/domain/mail/html-text.ts";
import { type Figure, isMet, ratioOf, type Spread, spreadOf, type Target } from "./figure.ts";
import {
  capitalised,
  countText,
  type Group,
  groupsOf,
  labelOf,
  nameOf,
  oursText,
  ratioText,
  stateText,
  targetText,
} from "./report.ts";

/** All in pixels at its natural size, of which a phone shows about four fifths. */
const width = 440;
const margin = 18;
const labelWidth = 174;
const plotLeft = 202;
const plotRight = 328;
const stateLeft = 342;
const valueLeft = 358;
const secondColumn = 236;
const fontSize = 13;
const lineHeight = 16;
const rowPadding = 10;
const groupHeight = 30;
const groupPadding = 5;
const bandHeight = 16;
const barHeight = 3;

/** Ratios stand by their logarithm, for half and double are equally far from the ceiling. What lies beyond gets an arrow. */
const ratioPowers = { lowest: -2, least: -1, most: 1, highest: 2 };
/** Values stand from 0 on, in multiples of their target. */
const multiplesMax = 2;

const noBreakSpace = "\u00a0";
const titleText = "Measured against the ceiling";

/** The colours are those of web/src/look/tokens.css. */
const style = `
:root {
  --ground: oklch(100% 0 0); --hairline: oklch(89% 0.008 255); --grid: oklch(94% 0.006 255);
  --ink: oklch(25% 0.025 262); --ink-quiet: oklch(46% 0.02 260);
  --accent: oklch(41% 0.13 264); --zone: oklch(94.5% 0.025 264); --attention: oklch(47% 0.1 68);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: oklch(22.5% 0.018 262); --hairline: oklch(33% 0.018 262); --grid: oklch(28.5% 0.018 262);
    --ink: oklch(94% 0.006 255); --ink-quiet: oklch(75% 0.014 258);
    --accent: oklch(76% 0.11 262); --zone: oklch(31% 0.05 264); --attention: oklch(84% 0.11 82);
  }
}
text {
  fill: var(--ink); font: 400 ${fontSize}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums;
}
path { fill: none; }
.ground { fill: var(--ground); }
.title { font-size: 18px; font-weight: 650; letter-spacing: -0.01em; }
.panel { font-size: 15px; font-weight: 650; }
.quiet { fill: var(--ink-quiet); font-weight: 400; }
.strong { font-weight: 650; }
.hairline { stroke: var(--hairline); }
.grid { stroke: var(--grid); }
.line { stroke: var(--ink-quiet); stroke-width: 1.5; }
.zone { fill: var(--zone); }
.limit { stroke: var(--accent); stroke-width: 1.5; }
.spread, .state { stroke: var(--accent); stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
.mark { fill: var(--accent); stroke: var(--ground); stroke-width: 1.5; }
.bar { fill: var(--accent); }
.free .spread { stroke: var(--ink-quiet); }
.free .mark { fill: var(--ground); stroke: var(--ink-quiet); }
.missed :is(.spread, .state) { stroke: var(--attention); }
.missed :is(.mark, .bar, .word) { fill: var(--attention); }
`;

/** One line of a panel, in the panel's own measure. */
type Row = {
  label: string;
  number: string;
  isMet: boolean | null;
  spread: Spread;
  target: Target | null;
  limit: number;
};

type RowGroup = { work: string; against: string | null; rows: Row[] };

/** Where a value stands, and between which values there is room. */
type Scale = { at: (value: number) => number; min: number; max: number };

type Panel = {
  heading: string;
  scale: Scale;
  ticks: { at: number; text: string }[];
  /** Only where the scale begins at 0. */
  hasBars: boolean;
  groups: RowGroup[];
};

/** A piece of the picture, and where the next one begins. */
type Drawn = { svg: string; bottom: number };

export function chartOf(figures: Figure[], caption: string): string {
  const panels = [ratioPanel(figures), valuePanel(figures)];
  const pieces = [drawHead(figures, caption)];
  const bottom = () => pieces.at(-1)?.bottom ?? 0;
  for (const panel of panels) if (panel.groups.length > 0) pieces.push(drawPanel(panel, bottom()));
  const height = bottom() + margin;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
<title id="title">${escapeHtml(`${titleText}: ${countText(figures)}`)}</title>
<desc id="description">${escapeHtml(inWords(figures))}</desc>
<style>${style}</style>
<rect class="ground" width="${width}" height="${height}"/>
${pieces.map(({ svg }) => svg).join("\n")}
</svg>
`;
}

function inWords(figures: Figure[]): string {
  const sentences = figures.flatMap((figure) => {
    const isRatio = figure.target?.of !== "value";
    if (isRatio && figure.ceiling === null) return [];
    const shown = isRatio ? `${ratioText(figure)} ${figure.ceiling?.name}` : oursText(figure);
    const target = targetText(figure.target, figure.unit);
    const held = target === "" ? "" : ` (target ${target}: ${stateText(figure)})`;
    return [`${nameOf(figure)}: ${shown}${held}.`];
  });
  return sentences.join(" ");
}

function ratioPanel(figures: Figure[]): Panel {
  const groups = rowsOf(figures, (figure) => {
    const spread = ratioOf(figure);
    if (spread === null) return null;
    const target = figure.target?.of === "ratio" ? figure.target : null;
    return { number: ratioText(figure), spread, target, limit: limitOf(target) };
  });
  const rows = groups.flatMap((group) => group.rows);
  const scale = ratioScale(rows.flatMap(({ spread, limit }) => [spread.min, spread.max, limit]));
  const powers = Math.round(Math.log2(scale.max / scale.min));
  return {
    heading: "Ratio to the ceiling",
    scale,
    ticks: Array.from({ length: powers + 1 }, (_, power) => {
      const at = scale.min * 2 ** power;
      return { at, text: at === 1 ? "1 ×" : `${at}` };
    }),
    hasBars: false,
    groups,
  };
}

function valuePanel(figures: Figure[]): Panel {
  const groups = rowsOf(figures, (figure) => {
    const { target } = figure;
    if (target?.of !== "value") return null;
    const multiples = figure.ours.map((value) => value / limitOf(target));
    // What it counts is said in the label beside it, and here is no room to say it twice.
    const number = oursText(figure).replace(" queries", "");
    return { number, spread: spreadOf(multiples), target, limit: 1 };
  });
  const span = plotRight - plotLeft;
  return {
    heading: "Value to its target",
    scale: { at: (value) => plotLeft + (span * value) / multiplesMax, min: 0, max: multiplesMax },
    ticks: [
      { at: 0, text: "0" },
      { at: 1, text: "target" },
      { at: 2, text: "2 ×" },
    ],
    hasBars: true,
    groups: groups.map((group) => ({ ...group, against: null })),
  };
}

type RowParts = Pick<Row, "number" | "spread" | "target" | "limit">;

function rowsOf(figures: Figure[], partsOf: (figure: Figure) => RowParts | null): RowGroup[] {
  return groupsOf(figures).flatMap((group) => {
    const rows = group.figures.flatMap((figure) => {
      const parts = partsOf(figure);
      return parts === null ? [] : [toRow(figure, group, parts)];
    });
    return rows.length === 0 ? [] : [{ work: group.work, against: group.against, rows }];
  });
}

function toRow(figure: Figure, group: Group, parts: RowParts): Row {
  const isValue = parts.target?.of === "value";
  const label = isValue
    ? `${figure.variant} (${targetText(parts.target, figure.unit).replaceAll(" ", noBreakSpace)})`
    : labelOf(figure, group);
  return { ...parts, label, isMet: parts.target === null ? null : isMet(figure) };
}

function limitOf(target: Target | null): number {
  if (target === null) return 1;
  return "atLeast" in target ? target.atLeast : target.atMost;
}

/** From a power of two to another, so that what is measured fits, within reason. */
function ratioScale(values: number[]): Scale {
  const powers = values.map(Math.log2).filter(Number.isFinite);
  const { lowest, least, most, highest } = ratioPowers;
  const first = Math.max(lowest, Math.floor(Math.min(least, ...powers)));
  const last = Math.min(highest, Math.ceil(Math.max(most, ...powers)));
  const span = plotRight - plotLeft;
  return {
    at: (value) => plotLeft + (span * (Math.log2(value) - first)) / (last - first),
    min: 2 ** first,
    max: 2 ** last,
  };
}

function drawHead(figures: Figure[], caption: string): Drawn {
  const titleAt = margin + 16;
  const lines = [
    { words: countText(figures), className: "strong" },
    ...wrap(caption, width - 2 * margin).map((words) => ({ words, className: "quiet" })),
  ];
  const legendTop = titleAt + 22 + lines.length * lineHeight + 10;
  const svg = [
    textAt(margin, titleAt, titleText, "title"),
    ...lines.map(({ words, className }, at) =>
      textAt(margin, titleAt + 23 + at * lineHeight, words, className),
    ),
    drawLegend(legendTop),
  ];
  return { svg: svg.join("\n"), bottom: legendTop + 22 + bandHeight };
}

/** What each mark means, two beside two. */
function drawLegend(top: number): string {
  const mark = 14;
  const words = mark * 2 + 8;
  const at = (x: number, y: number, drawn: string, text: string, className = "") =>
    `<g class="${className}" transform="translate(${x} ${y})">${drawn}${textAt(words, 4.5, text, "quiet")}</g>`;
  const spread = `<path class="spread" d="M2 -4v8M2 0h24M26 -4v8"/>`;
  const diamond = `<path class="mark" d="${diamondAt(mark, 0)}"/>`;
  const zone = `<rect class="zone" x="1" y="${-bandHeight / 2}" width="26" height="${bandHeight}"/><path class="limit" d="M1 ${-bandHeight / 2}v${bandHeight}"/>`;
  const circle = `<circle class="mark" cx="${mark}" r="5"/>`;
  return [
    at(margin, top, `${spread}${circle}`, "median, least to most"),
    at(secondColumn, top, zone, "here the target is met"),
    at(margin, top + 22, circle, "without a target", "free"),
    at(secondColumn, top + 22, diamond, "target not met", "missed"),
  ].join("\n");
}

function drawPanel({ heading, scale, ticks, hasBars, groups }: Panel, top: number): Drawn {
  const headingAt = top + 30;
  const ticksAt = headingAt + 22;
  const plotTop = ticksAt + 8;
  const zones: string[] = [];
  const marks: string[] = [];
  let bottom = plotTop;
  for (const group of groups) {
    marks.push(drawGroupHeading(group, bottom));
    bottom += groupHeight;
    for (const row of group.rows) {
      const lines = wrap(row.label, labelWidth);
      const height = rowPadding + lineHeight * Math.max(lines.length, row.isMet === false ? 2 : 1);
      const middle = bottom + height / 2;
      zones.push(drawZone(row, scale, middle));
      marks.push(drawRow(row, { lines, middle, scale, hasBars }));
      bottom += height;
    }
    bottom += groupPadding;
  }
  const labels = ticks.map(({ at, text }) =>
    textAt(scale.at(at), ticksAt, text, at === 1 ? "quiet strong" : "quiet", "middle"),
  );
  const grid = ticks.map(({ at }) => {
    const className = at === 1 ? "line" : "grid";
    return `<path class="${className}" d="M${round(scale.at(at))} ${plotTop}V${bottom}"/>`;
  });
  // The lines lie upon the zones and beneath the marks.
  const svg = [textAt(margin, headingAt, heading, "panel"), ...labels, ...zones, ...grid, ...marks];
  return { svg: svg.join("\n"), bottom };
}

function drawGroupHeading({ work, against }: RowGroup, top: number): string {
  const quiet =
    against === null ? "" : `<tspan class="quiet" dx="6">against ${escapeHtml(against)}</tspan>`;
  return `<path class="hairline" d="M${margin} ${top + 0.5}H${width - margin}"/>
<text class="strong" x="${margin}" y="${top + 21}">${escapeHtml(capitalised(work))}${quiet}</text>`;
}

/** The side of the limit on which the target is met. */
function drawZone({ target, limit }: Row, scale: Scale, middle: number): string {
  if (target === null) return "";
  const at = placeOf(limit, scale);
  const [left, right] = "atLeast" in target ? [at, plotRight] : [plotLeft, at];
  const top = middle - bandHeight / 2;
  return `<rect class="zone" x="${left}" y="${top}" width="${round(right - left)}" height="${bandHeight}"/>`;
}

type Place = { lines: string[]; middle: number; scale: Scale; hasBars: boolean };

function drawRow(row: Row, { lines, middle, scale, hasBars }: Place): string {
  const { isMet: met, number, target, limit } = row;
  const firstLine = middle + 5 - ((lines.length - 1) * lineHeight) / 2;
  const numberLine = middle + (met === false ? 5 - lineHeight / 2 : 5);
  const band = `M${placeOf(limit, scale)} ${middle - bandHeight / 2}v${bandHeight}`;
  return [
    `<g class="${met === null ? "free" : met ? "met" : "missed"}">`,
    ...lines.map((line, at) => textAt(margin, firstLine + at * lineHeight, line)),
    target === null ? "" : `<path class="limit" d="${band}"/>`,
    hasBars ? drawBar(row, scale, middle) : "",
    drawMark(row, scale, middle),
    met === null
      ? ""
      : `<path class="state" d="${met ? checkAt(numberLine) : crossAt(numberLine)}"/>`,
    textAt(valueLeft, numberLine, number, "strong"),
    met === false ? textAt(valueLeft, numberLine + lineHeight, "not met", "quiet word strong") : "",
    "</g>",
  ].join("");
}

function drawMark({ spread, isMet: met }: Row, scale: Scale, middle: number): string {
  if (isBeyond(spread.median, scale)) return drawArrow(spread.median, scale, middle);
  const x = placeOf(spread.median, scale);
  const mark =
    met === false
      ? `<path class="mark" d="${diamondAt(x, middle)}"/>`
      : `<circle class="mark" cx="${x}" cy="${middle}" r="5"/>`;
  return drawWhisker(spread, scale, middle) + mark;
}

function drawBar({ spread }: Row, scale: Scale, middle: number): string {
  const length = round(placeOf(spread.median, scale) - plotLeft);
  return `<rect class="bar" x="${plotLeft}" y="${middle - barHeight / 2}" width="${length}" height="${barHeight}"/>`;
}

/** From the least to the most of the rounds. */
function drawWhisker({ min, max }: Spread, scale: Scale, middle: number): string {
  const [left, right] = [placeOf(min, scale), placeOf(max, scale)];
  return `<path class="spread" d="M${left} ${middle - 4}v8M${left} ${middle}H${right}M${right} ${middle - 4}v8"/>`;
}

/** Instead of a mark that would lie beyond the picture. */
function drawArrow(value: number, { max }: Scale, middle: number): string {
  const [edge, inwards] = value > max ? [plotRight, -1] : [plotLeft, 1];
  return `<path class="spread" d="M${edge + 20 * inwards} ${middle}H${edge}m${5 * inwards} -5l${-5 * inwards} 5l${5 * inwards} 5"/>`;
}

function isBeyond(value: number, { min, max }: Scale): boolean {
  return !(value >= min && value <= max);
}

/** At the edge of the picture where it lies beyond it. */
function placeOf(value: number, { at, min, max }: Scale): number {
  return round(at(Math.min(max, Math.max(min, Number.isFinite(value) ? value : max))));
}

function checkAt(baseline: number): string {
  return `M${stateLeft} ${baseline - 4.5}l3.5 3.5l6.5 -7.5`;
}

function crossAt(baseline: number): string {
  return `M${stateLeft + 1} ${baseline - 9}l8 8m0 -8l-8 8`;
}

function diamondAt(x: number, y: number): string {
  return `M${x} ${y - 6.5}l6.5 6.5l-6.5 6.5l-6.5 -6.5z`;
}

function textAt(x: number, y: number, text: string, className = "", anchor = "start"): string {
  const classes = className === "" ? "" : ` class="${className}"`;
  const anchored = anchor === "start" ? "" : ` text-anchor="${anchor}"`;
  return `<text${classes} x="${round(x)}" y="${round(y)}"${anchored}>${escapeHtml(text)}</text>`;
}

/** At spaces, because SVG does not do it by itself. A word that is too long is left whole. */
function wrap(text: string, widthMax: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    const longer = `${line} ${word}`;
    if (line !== undefined && widthOf(longer) <= widthMax) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines;
}

/** About that of the widest of the fonts that a system may have. */
function widthOf(text: string): number {
  const sizes = [...text].map((character) => {
    if (/[ ilj.,:;'()|ftr]/.test(character)) return 0.37;
    return /[A-Zmw≤≥×]/.test(character) ? 0.8 : 0.62;
  });
  return fontSize * sizes.reduce((sum, size) => sum + size, 0);
}

/** More digits are no use, and differ from one machine to the next. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}
