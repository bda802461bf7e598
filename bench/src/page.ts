// Writes the results of a run: the documentation's page with every figure and how it came about, and the figures for
// programs. All words of the page stand here, because each run writes the page anew.

import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Figure, isMet, ratioOf, spreadOf } from "./figure.ts";
import {
  capitalised,
  ceilingText,
  countText,
  type Group,
  groupsOf,
  labelOf,
  missedOf,
  nameOf,
  oursText,
  type Results,
  ratioSpreadText,
  ratioText,
  spreadText,
  targetText,
  waitedText,
} from "./report.ts";

const noBreakSpace = "\u00a0";
/** More digits say nothing about a measurement. */
const keptDigits = 6;

/** How a group was measured, by the name of its work. The first that fits is taken. */
const howMeasured: readonly (readonly [work: RegExp, text: string])[] = [
  [
    /^create/,
    "`POST /v1/requests` with 1.5 KB of JSON, in 64 workspaces in turn. The ceiling is `pgbench` with the very statement that the service runs for one request, one transaction each, in a database of its own on the same PostgreSQL. Behind a bare statement nothing is sent, so here another process would send the mails (`ROLE=api`), except where a line says that they go out meanwhile. PostgreSQL takes 100 connections, so 256 clients are compared with the best of the ceiling.",
  ],
  [
    /^read/,
    "`GET /v1/requests/{id}`, with the API key checked each time. The ceiling is a bare `node:http` server that runs the same query for each call, on as many pooled connections, and then sends the same bytes, which it has ready.",
  ],
  [
    /\bwait/,
    "Callers who wait for a decision by long polling while nothing is decided. We count all queries of the whole service, its worker included, and the memory beyond that of the idle service. Then the requests are cancelled one by one, each with ten callers.",
  ],
  [/^list/, "The dashboard's list of requests, newest first, as a signed-in member loads it."],
  [
    /^decide/,
    "A person's decision, as the review page sends it; the page was opened before. The ceiling runs the one statement that a decision is through bare `pg`, and neither reads nor checks what was shown.",
  ],
  [
    /^log/,
    "The same creates and decisions in the same process, with the triggers that write down each fact for the log, and without them, in turns. First as an API process beside a worker (`ROLE=api`); then with the worker in the same process, which meanwhile makes entries of the facts and signs checkpoints, and sends the mails either way. Both pay for what else is kept as proof: the request's columns and the evidence of a vote.",
  ],
  [
    /^webhooks/,
    "Signed webhooks sent to a receiver on the same machine, every attempt recorded durably. The ceiling is bare `undici` that POSTs the same bodies to the same receiver and records nothing.",
  ],
  [
    /^event to received/,
    "From the time of the event, which is before its commit, until the receiver has the whole signed webhook about it. Idle: one request after the other. Half load: as many requests a second as half of the webhooks that can be sent. Beside one that hangs: hundreds of thousands are due to an endpoint that never answers, while another workspace has one event after the other, and while the same workspace has events that go to 49 more endpoints each.",
  ],
  [
    /^expiry/,
    "Requests whose time ended within one minute, found all at once, as after an outage. Each gets its final status and its event.",
  ],
  [/^start/, "From the start of the process until it says that it is ready (`/readyz`)."],
  [/^memory/, "Resident memory of the service without PostgreSQL."],
  [
    /^growth/,
    "Two services side by side, one with finished requests in its tables, with all that belongs to them, and one without, which is the ceiling here.",
  ],
  [
    /^whole job/,
    "The same job by other means: create a durable pending approval, read it 5 times, resolve it. Their published packages with our own glue, each on a PostgreSQL of its own where it uses one, both empty at the start. Here the peer stands where otherwise the ceiling does.",
  ],
];

/** Why a target is missed, by the name of its figure: what limits it, and the profile that says so. */
const whyMissed: readonly (readonly [name: RegExp, why: string])[] = [
  [
    /^webhooks, to/,
    "Processor time of one webhook, by /proc and profiles: the service 300 µs (half of it HTTP, a tenth the two signatures, a fifth reading and recording), PostgreSQL 245 µs (two thirds for the claim with its attempt, one third for the end, each row written anew with its indexes, in two commits), the receiver 65 µs. Two processors have room for 3,300 a second at most, whatever the order of the work. Bare undici and the receiver need no more than 90 to 120 µs together, by the rates of this run.",
  ],
  [
    /endpoints of one event beside one that hangs.*p99/,
    "One event is 49 webhooks at once, and the hanging one has no part in it: without it they take as long. To write the 50 deliveries with the request takes PostgreSQL about 8 ms, to claim 49 of them 8 more, and the service 7 to build and sign and 7 to send them, on one thread.",
  ],
  [
    /^whole job beside DBOS/,
    "With one client nothing can be gathered, and within its process a job is seven function calls, where ours is nine calls over HTTP with a key that is checked, a page that is shown, and rows for events and mails. Behind bare HTTP, which an approver could reach, it is slower than ours. One job of ours, in milliseconds: create 2.3, five reads 3.4, the page 0.8, the decision 1.9, the last read 0.7.",
  ],
  [
    /^whole job beside LangGraph/,
    "With one client nothing can be gathered, and within its process there are no hops; behind bare HTTP, as ours is, it is slower than ours.",
  ],
  [
    /^growth, .*list of the dashboard/,
    "The number of pending requests above the list was counted by reading what is pending in every workspace: statistics had said that there was nothing, and the creates before had left 10,000. In the run with ten million the planner chose the right index by itself. Mended since this run: with a million, in rounds of creates and lists, it fell from 403 to 262 lists a second before, and rose from 277 to 469 after.",
  ],
  [
    /^expiry/,
    "Half of the time PostgreSQL writes the row anew with its five indexes, the rest goes to finding and locking it, to its event, and to the foreign key of that. One sweep keeps most of a processor busy, and of two processors it takes that from those who create.",
  ],
];

export type Places = {
  /** Where results.json goes. */
  results: string;
  /** The folder of the documentation, whose page is written anew; null leaves it as it is. */
  docs: string | null;
};

/** Returns the paths of the files that it has written. */
export async function writeResults(
  results: Results,
  { results: folder, docs }: Places,
): Promise<string[]> {
  const files = new Map([[join(folder, "results.json"), jsonOf(results)]]);
  if (docs !== null) files.set(join(docs, "performance.md"), pageOf(results));
  await mkdir(folder, { recursive: true });
  for (const [path, text] of files) await writeFile(path, text);
  return [...files.keys()];
}

/** The results of the last whole run; null if there was none. */
export function readResults(folder: string): Results | null {
  const path = join(folder, "results.json");
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Results) : null;
}

/** The figures of one more run, in the place of older ones of the same name. */
export function joined(before: Results, more: Results): Results {
  const isNew = (figure: Figure) => more.figures.some((each) => nameOf(each) === nameOf(figure));
  const options = [...new Set([before.options, more.options])].filter((each) => each !== "");
  const figures = [...before.figures.filter((figure) => !isNew(figure)), ...more.figures];
  return { ...before, options: options.join(" "), figures };
}

export function pageOf(results: Results): string {
  const { figures } = results;
  const sections = [opening(figures), conditions(results), reading];
  const groups = groupsOf(figures).map(groupSection);
  return `${[...sections, "## Figures", ...groups, ...missedSection(figures), yourself].join("\n\n")}\n`;
}

function opening(figures: Figure[]): string {
  return `# Performance

<!-- Written by npm run bench. Its words stand in bench/src/page.ts. -->
How fast Countersign is and what it costs, measured against the best that the same machine can do. **${countText(figures)}.**

Times and rates alone say more about a machine than about a program. So the benchmark lets the service and its ceiling take turns on one machine, in one run, and compares them. The ratio between them is what carries over to other machines.`;
}

function conditions({ at, commit, machine, options }: Results): string {
  const command = `npm run bench${options === "" ? "" : ` -- ${options}`}`;
  return `Measured ${dateOf(at)} by \`${command}\` at commit \`${commit}\`. The machine: ${machine}.`;
}

const reading = `## How to read it

- **The ceiling** is the least that could do the same work: PostgreSQL's own \`pgbench\` with the same statement, a bare \`node:http\` server with the same query, a bare HTTP client with the same bodies. Nothing of the service is around it.
- **The ratio** is ours divided by the ceiling's. For what is counted by the second more is better, and 1 × is as fast as the ceiling. For times and sizes less is better. A rate above the ceiling's is no mistake: calls that come together are gathered into one statement, and the ceiling takes them one by one.
- **Every number is the median of several rounds.** A ratio is taken in each round by itself, so that a slow moment of the machine counts for both.
- **The spread** is the least and the most of the rounds: of the ratio, or of the value where there is no ceiling.
- **p50 and p99** are what callers waited, in milliseconds: half of them no longer than the first, 99 of 100 no longer than the second.
- **A target** was set before the measurement. Each says *met* or *not met*, and stays here either way.

The load, the service, PostgreSQL and the receivers share the machine. Every commit is durable (\`fsync\` and \`synchronous_commit\` are on), the rate limit is off, the log at \`warn\`, and everything else is as you would run it.`;

function groupSection(group: Group): string {
  const { work, figures } = group;
  const how = howMeasured.find(([name]) => name.test(work))?.[1];
  const columns: [name: string, cell: (figure: Figure) => string][] = [
    ["what", (figure) => labelOf(figure, group)],
    ["Countersign", (figure) => unbroken(oursText(figure))],
    [group.against ?? "ceiling", (figure) => unbroken(ceilingText(figure))],
    ["ratio", (figure) => unbroken(ratioText(figure))],
    ["target", targetCell],
    ["spread", spreadCell],
    ["p50 / p99", (figure) => unbroken(waitedText(figure))],
  ];
  const shown = columns.filter(
    ([, cell], at) => at === 0 || figures.some((figure) => cell(figure) !== ""),
  );
  const rows = figures.map((figure) => shown.map(([, cell]) => plain(cell(figure))));
  const table = tableOf(
    shown.map(([name]) => plain(name)),
    rows,
  );
  return [`### ${capitalised(work)}`, ...(how === undefined ? [] : [how]), table].join("\n\n");
}

function missedSection(figures: Figure[]): string[] {
  const missed = missedOf(figures);
  if (missed.length === 0) return [];
  const items = missed.map((figure) => {
    const shown =
      figure.target?.of === "ratio" && ratioOf(figure) !== null
        ? ratioText(figure)
        : oursText(figure);
    const why = whyMissed.find(([name]) => name.test(nameOf(figure)))?.[1];
    return `- **${plain(capitalised(nameOf(figure)))}**: ${shown}, the target is ${targetText(figure.target, figure.unit)}.${why === undefined ? "" : ` ${why}`}`;
  });
  return ["## Where a target is not met", items.join("\n")];
}

const yourself = `## Measure it yourself

The benchmark starts everything it needs on your machine, and cleans up after itself.

\`\`\`console
$ npm run bench                     # under 10 minutes
$ npm run bench -- --quick          # coarser, under 2 minutes
$ npm run bench -- --millions 1     # also with a million finished requests (5 GB, minutes more)
$ npm run bench -- --peers          # also the same job by other means, whose packages are fetched
\`\`\`

It prints these tables, and writes this page and the figures for programs (\`bench/results/results.json\`). \`pgbench\` comes with a PostgreSQL installation (Debian: \`apt-get install postgresql\`); without it a bare loop over \`pg\` takes its place, which is a lower ceiling and named so.

Close what else is running, and read the ratios. Absolute figures follow the disk and the processor.`;

function targetCell(figure: Figure): string {
  const met = isMet(figure);
  if (met === null) return "";
  const target = unbroken(targetText(figure.target, figure.unit));
  return `${target} ${met ? "met" : unbroken("**not met**")}`;
}

/** A line may end after a dash, but not within "to". */
function spreadCell(figure: Figure): string {
  const { ours, ceiling } = figure;
  const text = ceiling === null ? spreadText(spreadOf(ours), ours.length) : ratioSpreadText(figure);
  return unbroken(text.replace("–", " to "));
}

/** A number and its unit stay on one line. */
function unbroken(text: string): string {
  return text.replaceAll(" ", noBreakSpace);
}

/** Markdown renderers show the result as plain words. */
function plain(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

function tableOf(header: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [line(header), `|${"---|".repeat(header.length)}`, ...rows.map(line)].join("\n");
}

function dateOf(at: string): string {
  const date = new Date(at).toLocaleString("en-GB", {
    dateStyle: "long",
    timeStyle: "short",
    timeZone: "UTC",
  });
  return `${date} UTC`;
}

/** As the project's formatter writes it: a list of numbers stays on one line. */
function jsonOf(results: Results): string {
  const text = JSON.stringify(
    results,
    (_, value) => (typeof value === "number" ? Number(value.toPrecision(keptDigits)) : value),
    2,
  );
  const oneLine = (list: string) =>
    list.replaceAll(/\s+/g, " ").replace("[ ", "[").replace(" ]", "]");
  return `${text.replaceAll(/\[[\s\d.,e+-]+\]/g, oneLine)}\n`;
}
