// The data of stacked bars: rows of named parts, the look of each part, the totals, and how many days share a bar if
// there is no room for one each.

export type Tone = "good" | "bad" | "neutral" | "attention";
export type BarPart = { name: string; value: number; tone: Tone };
export type BarRow = { label: string; parts: BarPart[] };

/** A part's look: its tone, and which of the tone's patterns, because two parts may share a tone. */
export type Look = { tone: Tone; variant: number };
export type Series = { name: string; look: Look; total: number };

export function seriesOf(rows: readonly BarRow[]): Series[] {
  const found = new Map<string, Series>();
  const parts = rows.flatMap((row) => row.parts);
  // The first looks of good and neutral are both solid, and would differ by colour alone.
  const isBesideGood = parts.some(({ tone }) => tone === "good");
  const used: Record<Tone, number> = {
    good: 0,
    bad: 0,
    neutral: isBesideGood ? 1 : 0,
    attention: 0,
  };
  for (const { name, tone, value } of parts) {
    const known = found.get(name);
    if (known !== undefined) known.total += value;
    else found.set(name, { name, look: { tone, variant: used[tone]++ }, total: value });
  }
  return [...found.values()];
}

export function totalOf({ parts }: BarRow): number {
  return parts.reduce((sum, { value }) => sum + value, 0);
}

export function partValue({ parts }: BarRow, name: string): number {
  return parts.find((part) => part.name === name)?.value ?? 0;
}

/** People know weeks; beyond them the group only grows by doubling. */
const daysPerWeek = 7;

/** The number of rows that share a bar, so that there are at most so many bars. */
export function groupSize(rows: number, barsMax: number): number {
  if (rows <= barsMax) return 1;
  let size = daysPerWeek;
  while (Math.ceil(rows / size) > Math.max(1, barsMax)) size *= 2;
  return size;
}

/** Counted from the end, so that the newest bar is complete and only the oldest may be short. */
export function groupRows(rows: readonly BarRow[], size: number): BarRow[] {
  if (size <= 1) return [...rows];
  const groups: BarRow[] = [];
  for (let end = rows.length; end > 0; end -= size) {
    groups.unshift(merge(rows.slice(Math.max(0, end - size), end)));
  }
  return groups;
}

function merge(rows: readonly BarRow[]): BarRow {
  const first = rows[0]?.label ?? "";
  const last = rows.at(-1)?.label ?? "";
  const tones = new Map(
    rows.flatMap(({ parts }) => parts.map(({ name, tone }) => [name, tone] as const)),
  );
  const parts = [...tones].map(([name, tone]) => ({
    name,
    tone,
    value: rows.reduce((sum, row) => sum + partValue(row, name), 0),
  }));
  return { label: first === last ? first : `${first} – ${last}`, parts };
}
