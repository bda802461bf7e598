// The marks on a visible piece of text that may mislead, or that holds a harmless invisible character. The short words
// here stand in mails, in terminals and on the page.

export type Mark =
  /** Letters that only look plain. `reads` is null if the piece as a whole reads like nothing plain. */
  | { kind: "lookAlike"; reads: string | null; scripts: string; count: number }
  /** Digits of another script: `reads` has their values, whatever they look like. */
  | { kind: "digits"; reads: string; script: string }
  /** Letters that look like digits, in something that reads as a number. */
  | { kind: "letterDigits"; reads: string; letters: string }
  /** Mathematical, wide, circled and other forms of plain letters and digits. */
  | { kind: "styled"; reads: string }
  /** A host beyond ASCII, its name on the wire, and the plain host that it imitates, if any. */
  | { kind: "host"; ascii: string; reads: string | null }
  /** An address that leads elsewhere than it seems: by its user name, its slashes, a host as a number, or a break. */
  | { kind: "leads"; to: string; by: "userInfo" | "slashes" | "number" | "break" }
  /** A character that looks like the / or . or : of an address or a path. */
  | { kind: "separator"; reads: string; codePoint: number }
  /** More marks on one letter than any language needs. */
  | { kind: "pile"; count: number; names: string }
  /** Marks that strike letters through or enclose them. */
  | { kind: "overlay"; isStrike: boolean; count: number; names: string }
  /** An invisible character that belongs where it stands, such as a no-break space before a French colon. */
  | { kind: "harmless"; codePoint: number; name: string | null };

export type Marked = { kind: "marked"; text: string; mark: Mark; isQuiet: boolean };

/** In a few words, without brackets. */
export function wordsOf({ text, mark, isQuiet }: Marked): string {
  switch (mark.kind) {
    case "lookAlike":
      return mark.reads === null ? `mixes ${mark.scripts}` : `only looks like ${mark.reads}`;
    case "digits":
    case "styled":
      return `reads ${mark.reads}`;
    case "letterDigits":
      return `${mark.letters.length === 1 ? "letter" : "letters"} ${mark.letters} among digits`;
    case "host":
      if (text === mark.ascii) return `${isQuiet ? "shown as" : "imitates"} ${mark.reads}`;
      return isQuiet ? mark.ascii : `really ${mark.ascii}`;
    case "leads":
      return `goes to ${mark.to}`;
    case "separator":
      return mark.codePoint === backslash ? "works as /" : `not a plain ${mark.reads}`;
    case "pile":
      return `${mark.count} ${mark.count === 1 ? "mark" : "marks"} on one letter`;
    case "overlay":
      return mark.isStrike ? "struck through" : "drawn around";
    case "harmless":
      return codeAndName(mark.codePoint, mark.name);
    default:
      return mark satisfies never;
  }
}

const backslash = 0x5c;

/** Whether the words stand behind the piece: names of hosts and values of digits are shown in honest text, too. */
export function isSaid({ mark, isQuiet }: Marked): boolean {
  return !isQuiet || mark.kind === "host" || mark.kind === "digits";
}

export function codeAndName(codePoint: number, name: string | null): string {
  const code = `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
  return name === null ? code : `${code} ${name}`;
}
