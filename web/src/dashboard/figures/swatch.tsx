// A small piece of a part's look, to stand before its name.

import type { Look } from "./series.ts";
import { TonePatterns, ToneRect, usePatternName } from "./tone-pattern.tsx";

export function Swatch({ look }: { look: Look }) {
  const name = usePatternName();
  return (
    <svg className="swatch" width="14" height="14" aria-hidden="true">
      <TonePatterns name={name} looks={[look]} />
      <ToneRect name={name} look={look} x={0.5} y={0.5} width={13} height={13} />
    </svg>
  );
}
