// The rows of a container. A short one has them all at once. A long one has chunks: they appear in steps, those out of
// sight are plain text, and those near the window have their tools. Layout skips what is out of sight. First rows that
// can't grow it lays out at once: a guessed height would move what stands below when the reader comes to it.

import { memo, type ReactNode, useLayoutEffect, useRef, useState } from "react";
import type { JsonPath } from "../../../server/src/domain/shown/json-tree.ts";
import {
  type Chunk,
  type ChunkList,
  chunksFor,
  type Entry,
  entriesIn,
  textOfChunk,
} from "./chunks.ts";
import { guessHeight } from "./height-guess.ts";
import { useNear } from "./nearness.ts";
import { plainRowsOf } from "./plain-rows.ts";
import { useTree } from "./tree-context.ts";

/** The container of the rows. */
export type RowsOf = {
  /** The container's path, as a key. */
  key: string;
  path: JsonPath;
  list: ChunkList;
  /** A new object when the changes inside the container differ. */
  inside: object;
  row: (entry: Entry) => ReactNode;
};

type ShortRowsProps = {
  of: RowsOf;
  /** How many entries are shown. */
  count: number;
};

export function ShortRows({ of: { list, row }, count }: ShortRowsProps) {
  const entries = list.chunks.flatMap((chunk) => entriesIn(list, chunk));
  return <ul>{entries.slice(0, count).map(row)}</ul>;
}

type LongRowsProps = {
  of: RowsOf;
  /** How many entries the container shows. */
  count: number;
  /** The chunks that stand here. */
  from: number;
  end: number;
};

/** The number of parts per block: a list of any length grows by redrawing a few short lists. */
const partsPerBlock = 32;

/** Chunks, or blocks of them. */
export function LongRows({ of, count, from, end }: LongRowsProps) {
  const tree = useTree();
  const { key, list, row } = of;
  const perPart = chunksPerPart(end - from);
  const wanted = Math.ceil((Math.min(end, chunksFor(list, count)) - from) / perPart);
  const [reached, setReached] = useState(() => partsAtOnce(list, from, { perPart, wanted }, tree));
  const latest = useRef(reached);
  latest.current = reached;
  const isGrowing = reached < wanted;
  useLayoutEffect(() => {
    if (!isGrowing) return;
    return tree.grow({
      step: () => setReached((parts) => parts + 1),
      stop: () => {
        const next = list.chunks[from + latest.current * perPart];
        tree.limit(key, next?.index ?? list.count);
      },
    });
  }, [isGrowing, list]);
  const shown = Math.min(reached, wanted);
  if (perPart > 1) {
    return Array.from({ length: shown }, (_, at) => {
      const start = from + at * perPart;
      return (
        <Block
          key={start}
          of={of}
          count={count}
          from={start}
          end={Math.min(start + perPart, end)}
        />
      );
    });
  }
  return list.chunks.slice(from, from + shown).map((chunk) => {
    // One large entry grows by itself. Nothing stands between it and its row: payloads may be deep.
    if (chunk.isHeavy) return <ul key={chunk.index}>{row(entryOf(list, chunk))}</ul>;
    const inSight = Math.min(chunk.count, count - chunk.index);
    return <ChunkRows key={chunk.index} of={of} chunk={chunk} count={inSight} />;
  });
}

const Block = memo((props: LongRowsProps) => {
  const tree = useTree();
  const element = useRef<HTMLDivElement>(null);
  const [isAtOnce] = useState(() => tree.rowsLeft() > 0);
  useLayoutEffect(() => {
    if (isAtOnce && element.current !== null) tree.layOut(element.current);
  }, []);
  return (
    <div className="block" ref={element}>
      <LongRows {...props} />
    </div>
  );
}, isSameBlock);

function entryOf(list: ChunkList, chunk: Chunk): Entry {
  const [entry] = entriesIn(list, chunk);
  if (entry === undefined) throw new Error("a chunk has no entry");
  return entry;
}

function isSameBlock(one: LongRowsProps, other: LongRowsProps): boolean {
  return (
    one.of.list === other.of.list &&
    one.of.inside === other.of.inside &&
    one.of.key === other.of.key &&
    one.count === other.count &&
    one.end === other.end
  );
}

function chunksPerPart(chunks: number): number {
  let perPart = 1;
  while (perPart * partsPerBlock < chunks) perPart *= partsPerBlock;
  return perPart;
}

/** Parts that are open at first are there at once, so that nothing moves under the reader's finger. */
function partsAtOnce(
  { chunks }: ChunkList,
  from: number,
  { perPart, wanted }: { perPart: number; wanted: number },
  { rowsLeft }: { rowsLeft: () => number },
): number {
  let left = rowsLeft();
  let parts = 0;
  while (parts < wanted && left > 0) {
    left -= perPart > 1 ? perPart : (chunks[from + parts]?.count ?? 0);
    parts += 1;
  }
  return parts;
}

type ChunkRowsProps = { of: RowsOf; chunk: Chunk; count: number };

const ChunkRows = memo(NearOrFarRows, isSameChunk);

function isSameChunk(one: ChunkRowsProps, other: ChunkRowsProps): boolean {
  const isSameList = one.of.list === other.of.list;
  return (
    one.count === other.count &&
    one.of.inside === other.of.inside &&
    one.of.key === other.of.key &&
    one.chunk.value === other.chunk.value &&
    (isSameList || textOfChunk(one.of.list, one.chunk) === textOfChunk(other.of.list, other.chunk))
  );
}

function NearOrFarRows({ of, chunk, count }: ChunkRowsProps) {
  const { list, row } = of;
  const tree = useTree();
  const element = useRef<HTMLDivElement>(null);
  const isHolding = (value: number) => value >= chunk.value && value < chunk.value + chunk.size;
  // Entries that can be opened would grow after they were laid out.
  const [isAtOnce] = useState(() => chunk.size === chunk.count && tree.rowsLeft() > 0);
  const [isReady] = useState(() => tree.takeRows(count, count < chunk.count ? count : chunk.size));
  const [isNear, setNear] = useState(() => tree.isTarget(isHolding));
  const noteNear = (isNearNow: boolean) => setNear(isNearNow || hasFocus(element.current));
  useNear(element, isReady ? null : noteNear);
  const noteRows = () => {
    if (element.current !== null) guessHeight(element.current, rowsIn(element.current));
  };
  useLayoutEffect(() => {
    const part = element.current;
    const unwatch = tree.watchTarget((value) => {
      if (isHolding(value)) setNear(true);
    });
    noteRows();
    // Its turn comes after those of the containers inside, which have registered before it.
    const unregister = tree.register(`height ${of.key} ${chunk.index}`, noteRows);
    return () => {
      unwatch();
      unregister();
      if (part !== null) guessHeight(part, 0);
    };
  }, [chunk, count, isNear]);
  useLayoutEffect(() => {
    if (isAtOnce && element.current !== null) tree.layOut(element.current);
  }, []);
  return (
    <div className="chunk" ref={element}>
      {isReady || isNear ? (
        <NearRows key="near">{entriesIn(list, chunk, count).map(row)}</NearRows>
      ) : (
        <FarRows key="far" of={of} chunk={chunk} count={count} onRows={noteRows} />
      )}
    </div>
  );
}

function rowsIn(element: HTMLElement): number {
  return element.getElementsByTagName("li").length;
}

function hasFocus(element: HTMLElement | null): boolean {
  return element?.contains(document.activeElement) ?? false;
}

function NearRows({ children }: { children: ReactNode }) {
  const tree = useTree();
  useLayoutEffect(() => tree.onRows(), []);
  return <ul>{children}</ul>;
}

type FarRowsProps = ChunkRowsProps & { onRows: () => void };

function FarRows({ of: { key, path, list }, chunk, count, onRows }: FarRowsProps) {
  const tree = useTree();
  const element = useRef<HTMLUListElement>(null);
  const [drawings, setDrawings] = useState(0);
  useLayoutEffect(() => {
    if (element.current === null) return;
    const { rows, values, hasFolded } = plainRowsOf(list, chunk, { count, path, opening: tree });
    element.current.replaceChildren(rows);
    onRows();
    for (const value of values) tree.onDrawn(value);
    if (!hasFolded) return;
    return tree.register(`rows ${key} ${chunk.index}`, () => setDrawings((times) => times + 1));
  }, [list, chunk, count, drawings]);
  return <ul ref={element} />;
}
