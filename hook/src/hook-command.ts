// A command by which a harness's settings run this hook, taken apart for `doctor`. Only the documented forms are
// understood: a `|| true`, a pipe or a second command can turn a "no" into a pass, and no checker knows all of them.

import { type Arguments, readArguments } from "./arguments.ts";

export type HookCommand = {
  given: Arguments;
  /** Its end says no if the hook can't even start. */
  hasGuard: boolean;
  /** That end reads the call first: some harnesses let a call pass if they can't write all of it. */
  isDraining: boolean;
  /** It needs a POSIX shell, and doesn't start one itself. */
  needsPosixShell: boolean;
};

/** `words` follow without a shell; null if a shell reads the command. Null is a form that isn't understood. */
export function readHookCommand(command: string, words: string[] | null): HookCommand | null {
  if (words !== null) return withArguments([command, ...words], "", false);
  const quoted = /^\s*(?:\/(?:usr\/)?bin\/)?(?:sh|bash|dash)\s+-c\s+'([^']*)'\s*$/.exec(
    command,
  )?.[1];
  const text = quoted ?? command;
  const [, first = text, end = ""] = /^(.*?)\|\|\s*\{([^{}]*)\}\s*$/s.exec(text) ?? [];
  const plain = plainWords(first);
  return plain === null ? null : withArguments(plain, end, quoted === undefined && end !== "");
}

function withArguments(words: string[], end: string, needsPosixShell: boolean): HookCommand | null {
  const own = wordsAfterProgram(words);
  if (own === null || !isGuard(end)) return null;
  try {
    const given = readArguments(own);
    const isHook = given.command === null && !given.isHelp;
    if (!isHook) return null;
    return { given, hasGuard: end !== "", isDraining: /\bcat\b/.test(end), needsPosixShell };
  } catch {
    return null;
  }
}

/** Nothing at all, or a text on standard error and exit code 2. */
function isGuard(end: string): boolean {
  if (end === "") return true;
  const steps = end.split(";").map((step) => step.trim());
  const [last, exit] = [steps.pop(), steps.pop()];
  if (last !== "" || exit !== "exit 2") return false;
  const known = [/^\[ \$\? = 2 \] \|\| cat >\/dev\/null$/, /^echo [^$`&|<>]* ?>&2$/];
  const saysWhy = steps.some((step) => step.startsWith("echo "));
  return saysWhy && steps.every((step) => known.some((form) => form.test(step)));
}

/** What the program is given. Before it may stand the Node that runs it. */
function wordsAfterProgram(words: string[]): string[] | null {
  const [first = ""] = words;
  const rest = /(?:^|\/)node$/.test(first) ? words.slice(1) : words;
  const [program = "", command] = rest;
  if (/(?:^|\/)countersign-hook(?:\.mjs)?$/.test(program)) return rest.slice(1);
  return /(?:^|\/)countersign$/.test(program) && command === "hook" ? rest.slice(2) : null;
}

/** Null if a shell would do more with it than split it. */
function plainWords(text: string): string[] | null {
  const words: string[] = [];
  const form = /[ \t]*(?:"([^"$`\\]*)"|'([^']*)'|([^\s"'$`\\;&|<>(){}*?![\]#]+))(?=[ \t]|$)/gy;
  let end = 0;
  for (const match of text.trim().matchAll(form)) {
    words.push(match[1] ?? match[2] ?? match[3] ?? "");
    end = match.index + match[0].length;
  }
  return end === text.trim().length ? words : null;
}
