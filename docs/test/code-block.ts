// The fenced code blocks of a page, and what the page says about running them. What it says stands in comments right
// above a block, which no reader sees:
//
//   <!-- meanwhile: a person approves -->                        decides whatever is pending while the block runs
//   <!-- meanwhile: a person approves with {"amount": 45} -->    with this edit
//   <!-- meanwhile: a person rejects with "Too much." -->        with this note
//   <!-- meanwhile: the process gets SIGTERM -->                 once it has asked; it must end well, and have cancelled
//   <!-- meanwhile: webhooks arrive at port 4000 -->             it must believe a real one, and refuse a forged one
//   <!-- meanwhile: webhooks arrive at port 4000, and it says "done" -->   after what earlier blocks asked is approved
//   <!-- meanwhile: webhooks are handed to POST -->              the same, for a function that takes a Web Request
//   <!-- needs: jq -->                                           skipped, visibly, where that is not installed
//   <!-- not run: reason -->                                     never run, for that reason
//
// A first line such as `// refund.ts` or `# verify.py` is the name under which the block is saved.

export type Meanwhile =
  | { kind: "nothing" }
  | { kind: "approve"; edit: string | null }
  | { kind: "reject"; note: string }
  | { kind: "terminate" }
  | { kind: "webhooks"; port: string; said: string | null }
  | { kind: "handler" };

export type CodeBlock = {
  page: string;
  /** Of the fence. */
  line: number;
  language: string;
  text: string;
  meanwhile: Meanwhile;
  needs: string[];
  /** Why it is not run, or null. */
  notRun: string | null;
  fileName: string | null;
};

/** Run against the service. */
export const runLanguages = ["ts", "js", "python", "go", "sh"];
/** Only shown: what starts a server or changes a machine, and what a program prints. SQL is run by two-roles.test.ts. */
export const shownLanguages = ["console", "text", "nginx", "ini", "yaml", "sql"];

/** Says what is wrong with the page in an error that names the line. */
export function codeBlocksOf(page: string, markdown: string): CodeBlock[] {
  const lines = markdown.split("\n");
  const blocks: CodeBlock[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, fence, info = ""] = /^(`{3,})(.*)$/.exec(lines[at] ?? "") ?? [];
    if (fence === undefined) continue;
    const end = lines.indexOf(fence, at + 1);
    const place = `${page}:${at + 1}`;
    if (end === -1) throw new Error(`${place}: this code block has no end`);
    const text = `${lines.slice(at + 1, end).join("\n")}\n`;
    const language = info.trim();
    blocks.push({
      page,
      line: at + 1,
      language,
      text,
      fileName: fileNameOf(text),
      ...readComments(commentsAbove(lines, at), place),
    });
    at = end;
  }
  refuseStrayComments(page, lines);
  return blocks;
}

/** A blank line between, and nobody would notice that the comment says nothing. */
function refuseStrayComments(page: string, lines: string[]): void {
  lines.forEach((line, at) => {
    const next = lines[at + 1] ?? "";
    if (/^<!-- (?:meanwhile|needs|not run)\b/.test(line) && !/^(?:<!--|```)/.test(next)) {
      throw new Error(`${page}:${at + 1}: this must stand right above a code block`);
    }
  });
}

function commentsAbove(lines: string[], at: number): string[] {
  const comments: string[] = [];
  for (let above = at - 1; above >= 0; above -= 1) {
    const [, comment] = /^<!-- (.+) -->$/.exec(lines[above] ?? "") ?? [];
    if (comment === undefined) break;
    comments.unshift(comment);
  }
  return comments;
}

function readComments(
  comments: string[],
  place: string,
): Pick<CodeBlock, "meanwhile" | "needs" | "notRun"> {
  let meanwhile: Meanwhile = { kind: "nothing" };
  let notRun: string | null = null;
  const needs: string[] = [];
  for (const comment of comments) {
    const [, name, value = ""] = /^(meanwhile|needs|not run): (.+)$/.exec(comment) ?? [];
    if (name === "meanwhile") meanwhile = readMeanwhile(value, place);
    else if (name === "needs") needs.push(value);
    else if (name === "not run") notRun = value;
    else throw new Error(`${place}: what does "${comment}" above a code block mean?`);
  }
  return { meanwhile, needs, notRun };
}

function readMeanwhile(text: string, place: string): Meanwhile {
  const [, edit] = /^a person approves(?: with (.+))?$/.exec(text) ?? [];
  if (text.startsWith("a person approves")) return { kind: "approve", edit: edit ?? null };
  const [, note] = /^a person rejects with "(.+)"$/.exec(text) ?? [];
  if (note !== undefined) return { kind: "reject", note };
  if (text === "the process gets SIGTERM") return { kind: "terminate" };
  const [, port, said] =
    /^webhooks arrive at port (\d+)(?:, and it says "(.+)")?$/.exec(text) ?? [];
  if (port !== undefined) return { kind: "webhooks", port, said: said ?? null };
  if (text === "webhooks are handed to POST") return { kind: "handler" };
  throw new Error(`${place}: nobody knows how to do this meanwhile: ${text}`);
}

function fileNameOf(text: string): string | null {
  const [, name] = /^(?:\/\/|#) ([\w./-]+\.(?:ts|js|mjs|py|go|sh))\n/.exec(text) ?? [];
  return name ?? null;
}
