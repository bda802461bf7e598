// The looks of the parts of a picture. Parts never differ by colour alone: each has its own pattern, which stays
// visible without colours.

import { useId } from "react";
import type { Look } from "./series.ts";

/** A pattern name that no other picture on the page has; React's ids hold letters that a URL may not. */
export function usePatternName(): string {
  return `tones${useId().replaceAll(/[^\w-]/g, "_")}`;
}

type TonePatternsProps = { name: string; looks: readonly Look[] };

export function TonePatterns({ name, looks }: TonePatternsProps) {
  return (
    <defs>
      {looks.map((look) => (
        <Pattern key={idOf(name, look)} id={idOf(name, look)} look={look} />
      ))}
    </defs>
  );
}

type ToneRectProps = {
  name: string;
  look: Look;
  x: number | string;
  y: number;
  width: number | string;
  height: number;
};

/** Needs the `TonePatterns` of the same name in its picture. */
export function ToneRect({ name, look, ...place }: ToneRectProps) {
  return (
    <rect
      className={`tone tone-${look.tone}`}
      fill={`url(#${idOf(name, look)})`}
      rx={1}
      {...place}
    />
  );
}

function Pattern({ id, look }: { id: string; look: Look }) {
  const { size, turn, lines } = patternOf(look);
  return (
    <pattern
      id={id}
      width={size}
      height={size}
      patternUnits="userSpaceOnUse"
      patternTransform={`rotate(${turn})`}
      className={`tone-pattern tone-${look.tone}`}
    >
      <rect className={lines === "full" ? "tone-full" : "tone-ground"} width={size} height={size} />
      {lines !== "full" && <path className="tone-line" d={lines} />}
    </pattern>
  );
}

function idOf(name: string, { tone, variant }: Look): string {
  return `${name}-${tone}-${variant}`;
}

type PatternShape = { size: number; turn: number; lines: string };

const full: PatternShape = { size: 8, turn: 0, lines: "full" };
const slanted: PatternShape = { size: 5, turn: 45, lines: "M1.5 0V5" };
const slantedBack: PatternShape = { size: 5, turn: -45, lines: "M1.5 0V5" };
const level: PatternShape = { size: 4, turn: 0, lines: "M0 1H4" };
const upright: PatternShape = { size: 4, turn: 0, lines: "M1.5 0V4" };
const dotted: PatternShape = { size: 4, turn: 0, lines: "M1 2h2" };
const hollow: PatternShape = { size: 8, turn: 0, lines: "" };

/** The patterns of each tone, in the order of use. Good and neutral both begin solid: series.ts tells them apart. */
const patterns: Record<Look["tone"], [PatternShape, ...PatternShape[]]> = {
  good: [full, slantedBack, dotted],
  bad: [slanted, full, dotted],
  attention: [level, slantedBack, full],
  neutral: [full, upright, dotted, hollow],
};

function patternOf({ tone, variant }: Look): PatternShape {
  const known = patterns[tone];
  return known[variant % known.length] ?? known[0];
}
