// Reads source text for the tests of the architecture: what a file imports and declares, and its code without comments
// and strings. It knows only as much of the language as the formatter leaves possible.

import { posix } from "node:path";

export type SourceFile = { path: string; text: string };

export type Import = {
  specifier: string;
  /** The names as the other file exports them; none for a whole-module import. */
  names: string[];
  isType: boolean;
  /** Loaded only when it is needed. */
  isLazy: boolean;
};

/** The text between the keyword and `from` cannot hold a string or a semicolon. */
const staticImport = /\b(?:import|export)\b(?:([^;"'`()=]*?)\bfrom\b)?\s*(["'])([^"']*)\2;?/g;
const dynamicImport = /\bimport\s*\(\s*(["'`]?)/g;

export function importsOf(file: SourceFile): Import[] {
  const { code, uncommented } = blanked(file);
  const statics = [...code.matchAll(staticImport)].map((match) => {
    const end = match.index + match[0].replace(/;$/, "").length - 1;
    const specifier = uncommented.slice(end - (match[3]?.length ?? 0), end);
    return { specifier, ...namesIn((match[1] ?? "").trim()), isLazy: false };
  });
  const dynamics = [...code.matchAll(dynamicImport)].map((match) => {
    const quote = match[1] ?? "";
    const start = match.index + match[0].length;
    const end = quote === "" ? start : uncommented.indexOf(quote, start);
    // A computed name can't be read here, so no rule allows it.
    const specifier = uncommented.slice(start, end) || "(computed)";
    return { specifier, names: [], isType: false, isLazy: true };
  });
  return [...statics, ...dynamics];
}

function namesIn(clause: string): Pick<Import, "names" | "isType"> {
  const isTypeClause = /^type\b/.test(clause);
  const list = /^(?:type\s*)?\{([^}]*)\}$/.exec(clause)?.[1] ?? "";
  const entries = list.split(",").map((entry) => entry.trim());
  const named = entries.filter((entry) => entry !== "");
  const isType = isTypeClause || (named.length > 0 && named.every((name) => /^type\s/.test(name)));
  const names = named.map((entry) => entry.replace(/^type\s+/, "").replace(/\s+as\s.*$/, ""));
  return { names, isType };
}

/** The path of the imported file, or null when a package is imported. */
export function targetOf(file: SourceFile, { specifier }: Import): string | null {
  return specifier.startsWith(".") ? posix.join(posix.dirname(file.path), specifier) : null;
}

export function relativeTargets(file: SourceFile): string[] {
  return importsOf(file).flatMap((each) => targetOf(file, each) ?? []);
}

export type Declaration = { name: string; isExported: boolean; code: string; uncommented: string };

/** The formatter puts every declaration of a module at the start of a line, and nothing else of one. */
const declarationStart =
  /^(export\s+)?(?:default\s+)?(?:async\s+)?(?:function\*?|const|let|class)\s+([\w$]+)/gm;

export function declarationsOf(file: SourceFile): Declaration[] {
  const { code, uncommented } = blanked(file);
  const exportLists = [...code.matchAll(/^export\s*\{([^}]*)\}/gm)].map(([, list]) => list ?? "");
  const listed = new Set(exportLists.flatMap((list) => list.match(/[\w$]+/g) ?? []));
  const starts = [...code.matchAll(declarationStart)];
  return starts.map((match, index) => {
    const name = match[2] ?? "";
    const end = starts[index + 1]?.index ?? code.length;
    return {
      name,
      isExported: match[1] !== undefined || listed.has(name),
      code: code.slice(match.index, end),
      uncommented: uncommented.slice(match.index, end),
    };
  });
}

/** A declaration with everything of its file that it uses, and what that uses, and so on. */
export function closureOf(declaration: Declaration, all: Declaration[]): Declaration[] {
  const used = new Set([declaration]);
  for (const each of used) {
    const words = new Set(each.code.match(/(?<![.\w$])[A-Za-z_$][\w$]*/g));
    for (const other of all) if (words.has(other.name)) used.add(other);
  }
  return [...used];
}

type Blanked = {
  /** Without comments, and with the insides of strings, templates and regular expressions made blank. */
  code: string;
  /** Without comments. */
  uncommented: string;
};

const alreadyBlanked = new WeakMap<SourceFile, Blanked>();

/** Both texts are as long as the file, so that a place in one is the same place in the other. */
export function blanked(file: SourceFile): Blanked {
  const known = alreadyBlanked.get(file);
  if (known !== undefined) return known;
  const result = blank(file.text);
  alreadyBlanked.set(file, result);
  return result;
}

const token =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[`{}]|\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
const templatePart = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(`|\$\{|$)/y;
/** A slash divides where a value has just ended; elsewhere it begins a regular expression. */
const endOfValue = /(?:[\w$)\]]|\+\+|--)\s*$/;
const keywordBeforeValue = /\b(?:return|typeof|case|in|of|void|delete|await|throw|else|do)\s*$/;

function blank(text: string): Blanked {
  let code = "";
  let uncommented = "";
  // Each open brace belongs to a block, or to a place in a template.
  const braces: ("block" | "template")[] = [];
  const take = (part: string, { inCode, isKept }: { inCode: string; isKept: boolean }) => {
    code += inCode;
    uncommented += isKept ? part : spaces(part);
  };
  const takeTemplate = (from: number): number => {
    templatePart.lastIndex = from;
    const [part = "", end = ""] = templatePart.exec(text) ?? [];
    if (end === "${") braces.push("template");
    const inside = part.slice(0, part.length - end.length);
    take(part, { inCode: spaces(inside) + end, isKept: true });
    return from + part.length;
  };
  for (let at = 0; at < text.length; ) {
    token.lastIndex = at;
    let part = token.exec(text)?.[0] ?? text.charAt(at);
    const isPattern = part.length > 1 && part.startsWith("/") && !/^\/[/*]/.test(part);
    if (isPattern && endOfValue.test(code) && !keywordBeforeValue.test(code)) part = "/";
    at += part.length;
    if (/^\/[/*]/.test(part)) take(part, { inCode: spaces(part), isKept: false });
    else if (part.length > 1) take(part, { inCode: withBlankInside(part), isKept: true });
    else take(part, { inCode: part, isKept: true });
    if (part === "{") braces.push("block");
    const isInTemplate = part === "`" || (part === "}" && braces.pop() === "template");
    if (isInTemplate) at = takeTemplate(at);
  }
  return { code, uncommented };
}

function withBlankInside(literal: string): string {
  return literal.charAt(0) + spaces(literal.slice(1, -1)) + literal.charAt(literal.length - 1);
}

function spaces(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}
