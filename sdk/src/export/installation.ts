// The installation's part of an export: the workspace's checkpoints are entries of the installation's log, and that log
// is what witnesses see. A proof shows that a checkpoint was there when a witness cosigned. The whole log shows more:
// that no other one was. Its entries name a workspace's log by a hash of its origin, also one that was written anew, so
// every entry of that name must be opened by the export and fit the exported log. The installation's own older logs
// count, too: a history could be written anew behind the next name.

import { isEqual } from "../proof/bytes.ts";
import { logLabelOf, readEntryOrNull } from "../proof/log-entry.ts";
import {
  generationsMax,
  installationOf,
  nameAt,
  parseLogProof,
  siteOf,
} from "../proof/log-proof.ts";
import { isTime } from "../proof/members.ts";
import {
  type Checkpoint,
  isSignedNote,
  largestOf,
  type NoteKey,
  parseCheckpoint,
  parseNote,
  type SignedCheckpoint,
  type SignedNote,
  seenBy,
  witnessKeyOf,
} from "../proof/note.ts";
import { leavesOf, RememberingTree } from "../proof/tree.ts";
import { doubtOfRevoked, type ExportFile, type KeptCheckpoint } from "./file.ts";
import type { Findings } from "./findings.ts";
import { InstallationEntries } from "./installation-entries.ts";
import type { ExportTools, InstallationLog } from "./tools.ts";

type Parts = { file: ExportFile; findings: Findings; tools: ExportTools };

export type Watching = {
  witnesses: readonly string[];
  log?: InstallationLog | undefined;
  /** In milliseconds: what is dated later isn't asked about. */
  now: number;
};

/** What witnesses and the installation's log have seen of this one, in words. */
export async function checkInstallation(
  { witnesses, log, now }: Watching,
  parts: Parts,
): Promise<string[]> {
  const keys = await Promise.all(witnesses.map(witnessKeyOf));
  const checked = new CheckedInstallation({ ...parts, keys, now });
  await checked.readProofs();
  await checked.readInstalled();
  return [
    ...(await checked.checkWitnesses()),
    ...(log === undefined ? [] : await checked.checkWhole(log)),
  ];
}

/** A workspace's checkpoint, and the installation's checkpoint whose log has it. */
type Placed = { named: Checkpoint; note: SignedNote; head: Checkpoint };

type Proven = NonNullable<ExportFile["installation"]>["entries"][number];

const installedAtOnce = 1_000;
const lagMs = 60_000;
/** So old an export is the newest that one can have. */
const freshMs = 3_600_000;

type Looking = { origin: string; from: number; size: number };

type Reading = { heads: readonly Checkpoint[]; isClosed: boolean; log: InstallationLog };

class CheckedInstallation {
  readonly #parts: Parts & { keys: readonly NoteKey[]; now: number };
  /** By the label that entries have, the names of all logs that the workspace may have had, exported or not. */
  #labels: ReadonlyMap<string, string> = new Map();
  /** Of this workspace, and beyond what the export proves. */
  readonly #newer = { count: 0, at: "" };
  readonly #placed: Placed[] = [];
  /** The entries that the export opens, by their place. */
  readonly #opened = new Map<string, string>();
  readonly #entries: InstallationEntries;

  constructor(parts: Parts & { keys: readonly NoteKey[]; now: number }) {
    this.#parts = parts;
    this.#entries = new InstallationEntries(parts);
  }

  async readProofs(): Promise<void> {
    const { file, findings } = this.#parts;
    const { installation } = file;
    for (const entry of installation?.entries ?? []) {
      const placed = await this.#place(entry);
      if (placed !== null) this.#placed.push(placed);
    }
    const isProven = installation?.entries.some(({ proof }) =>
      proof.endsWith(`\n\n${installation.checkpoint}`),
    );
    if (installation !== null && installation.entries.length > 0 && !isProven) {
      const message = "the installation's checkpoint is not one of the proofs";
      findings.add("installation_differs", message);
    }
  }

  /** Every checkpoint that the export opens, whether somebody has the whole log or not. */
  async readInstalled(): Promise<void> {
    const { installed } = this.#parts.file;
    for (let at = 0; at < installed.length; at += installedAtOnce) {
      const lines = installed.slice(at, at + installedAtOnce);
      const named = await this.#entries.open(lines);
      lines.forEach(({ log, index, entry }, place) => {
        if (named[place] === null)
          this.#refuse(`entry ${index} of ${log} stands for something else`);
        else this.#opened.set(`${index} ${log}`, entry);
      });
    }
  }

  /** A witness counts only for what the very checkpoint that it cosigned has in its log. */
  async checkWitnesses(): Promise<string[]> {
    const { file, findings, tools, keys } = this.#parts;
    // A log that was just opened anew has none that a witness could have seen.
    const newest = file.trees.findLast(({ size }) => size > 0);
    const ours = this.#placed.filter(
      ({ named, head }) => named.origin === newest?.origin && this.#isBeside(head.origin),
    );
    if (ours.length === 0 && keys.length === 0)
      findings.notes.push("the checkpoints aren't in the installation's log yet");
    const seen: string[] = [];
    for (const key of keys) {
      let covered = 0;
      for (const { named, note } of ours) {
        if (await isSignedNote(note, key, tools.isSigned)) covered = Math.max(covered, named.size);
      }
      const size = newest?.size ?? 0;
      if (covered > 0) seen.push(`the witness ${key.name} (${covered} of ${size} entries)`);
      else
        findings.add("witness_missing", `${key.name} has cosigned nothing that this export proves`);
      if (covered > 0 && covered < size) {
        findings.notes.push(
          `${key.name} has not seen the last ${size - covered} entries: they are the operator's word alone`,
        );
      }
    }
    return seen;
  }

  /** Looks through all logs of the installation for checkpoints that the export keeps back or contradicts. */
  async checkWhole(log: InstallationLog): Promise<string[]> {
    const heads = Map.groupBy(
      this.#placed.map(({ head }) => head),
      ({ origin }) => origin,
    );
    const proven = [...heads.keys()].map(installationOf);
    const newest = proven.reduce((most, each) => Math.max(most, each?.generation ?? 0), 0);
    if (proven.length === 0 || proven.includes(null)) {
      this.#refuse(
        "the export has no checkpoint that the installation's log could be held against",
      );
      return [];
    }
    const kept = [...this.#parts.file.checkpoints.keys()].filter(installationOf);
    const sites = this.#sites([...heads.keys(), ...kept]);
    const unread = new Set([...kept, ...heads.keys()]);
    this.#labels = await this.#labelsAt(sites);
    const seen: string[] = [];
    for (let generation = 1; generation <= generationsMax; generation += 1) {
      const names = sites.map((site) => nameAt(site, generation));
      const there: string[] = [];
      for (const name of names) if (heads.has(name) || (await log.has(name))) there.push(name);
      if (there.length === 0 && generation > newest) break;
      if (there.length === 0)
        this.#doubt(
          `the installation's log ${names[0]} isn't there to be read. If the service had another address then, give its newest checkpoint (--checkpoint)`,
        );
      for (const origin of there) {
        const own = heads.get(origin) ?? [];
        const isClosed = generation < newest;
        seen.push(...(await this.#readLog(origin, { heads: own, isClosed, log })));
        unread.delete(origin);
      }
    }
    for (const origin of unread) {
      const { counted, aside } = await this.#keptOf(origin);
      const [first] = aside;
      if (first === undefined || counted.length > 0 || heads.has(origin))
        this.#parts.findings.add("split_view", `you gave no log ${origin}`, { origin });
      else this.#doubt(doubtOfRevoked(first, 1));
    }
    this.#tellNewer();
    return seen;
  }

  async #readLog(origin: string, { heads, isClosed, log }: Reading): Promise<string[]> {
    const { hashMany } = this.#parts.tools;
    const marks = [...heads, ...(await this.#ends(origin, { isClosed, log }))];
    const { aside } = await this.#keptOf(origin);
    const sizes = [...marks, ...aside].map((mark) => mark.size);
    const tree = new RememberingTree(sizes, hashMany);
    // A log that has a next one is older than what the export proves there.
    const size = isClosed ? Infinity : largestOf(heads);
    let own = 0;
    for await (const entries of log.read({ origin, size: largestOf(marks) })) {
      own += this.#lookThrough(entries, { origin, from: tree.size, size });
      await tree.append(await leavesOf(entries, hashMany));
    }
    for (const { size: signed, root } of marks) {
      if (isEqual(tree.rootAt(signed) ?? new Uint8Array(), root)) continue;
      this.#refuse(`${origin} as you gave it is not the log of ${signed} entries that was signed`);
    }
    for (const each of aside) {
      const isFit = isEqual(tree.rootAt(each.size) ?? new Uint8Array(), each.root);
      if (!isFit) this.#doubt(doubtOfRevoked(each, 1));
    }
    if (size === 0) return [];
    const read = Math.min(size, tree.size);
    return [`the whole log ${origin} (${own} checkpoints of this workspace in ${read} entries)`];
  }

  /** Signed checkpoints from outside. One that was closed needs one: its last entries could be cut off unseen. */
  async #ends(origin: string, { isClosed, log }: Omit<Reading, "heads">): Promise<Checkpoint[]> {
    const { file, findings, tools, keys } = this.#parts;
    const { counted: kept } = await this.#keptOf(origin);
    for (const each of kept) {
      if ((await file.signerOf(each, tools)) !== null) continue;
      const message = `the checkpoint of ${each.size} entries is signed by no key of the history`;
      findings.add("checkpoint_unsigned", message, { origin });
    }
    if (!isClosed) return kept;
    const served = await this.#served(origin, log);
    const ours = await seenBy(keys, kept, tools.isSigned);
    const own = await seenBy(keys, served, tools.isSigned);
    const [reach, end] = [largestOf(ours), largestOf(own)];
    if (reach > 0)
      findings.notes.push(
        `of ${origin} you kept a checkpoint of ${reach} entries: nothing but itself says what came after`,
      );
    if (end > reach)
      findings.notes.push(
        `only ${origin} itself says that it ended with ${end} entries: a witness's newest checkpoint of it would tell (--checkpoint)`,
      );
    if (ours.length + own.length === 0)
      this.#doubt(
        `nothing says how long ${origin} was before the log went on under another name: give the newest checkpoint of it that a witness has cosigned or you have kept (--checkpoint)`,
      );
    return [...kept, ...served];
  }

  /** From outside. What a revoked key signed counts by the cosignature of a witness alone. */
  async #keptOf(origin: string): Promise<{ counted: KeptCheckpoint[]; aside: KeptCheckpoint[] }> {
    const { file, tools, keys } = this.#parts;
    const kept = (file.checkpoints.get(origin) ?? []).filter(({ from }) => from === "outside");
    const revoked = kept.filter(({ revokedKey }) => revokedKey !== null);
    const seen = keys.length === 0 ? [] : await seenBy(keys, revoked, tools.isSigned);
    const areSeen = new Set(seen.map(({ note }) => note));
    const aside = revoked.filter(({ note }) => !areSeen.has(note));
    return { aside, counted: kept.filter((each) => !aside.includes(each)) };
  }

  /** What comes with the log, if the log's key signed it. */
  async #served(origin: string, log: InstallationLog): Promise<SignedCheckpoint[]> {
    const { file, tools } = this.#parts;
    const note = parseNote((await log.checkpoint(origin)) ?? "");
    const checkpoint = note === null ? null : parseCheckpoint(note.text);
    if (note === null || checkpoint?.origin !== origin) return [];
    const isSigned = (await file.signerOf({ note, origin }, tools)) !== null;
    return isSigned ? [{ ...checkpoint, note }] : [];
  }

  /** How many of the entries are about the workspace's logs. */
  #lookThrough(entries: readonly string[], { origin: log, from, size }: Looking): number {
    let own = 0;
    entries.forEach((text, at) => {
      const entry = readEntryOrNull(text);
      const origin = entry === null ? undefined : this.#labels.get(entry.id);
      if (entry === null || origin === undefined) return;
      const index = from + at;
      if (index < size) own += 1;
      if (this.#opened.get(`${index} ${log}`) === text) return;
      if (!this.#isDated(entry.at)) {
        const message = `entry ${index} of ${log} is a checkpoint of ${origin} dated ${JSON.stringify(entry.at)}, which has not been`;
        this.#parts.findings.add("date_wrong", message, { origin });
        return;
      }
      // What came after the export's own state of the log isn't in it, unless it is older than the export.
      if (index >= size && !this.#isOlder(entry.at)) {
        this.#countNewer(entry.at);
        return;
      }
      const message = `entry ${index} of ${log} is a checkpoint of ${origin} that the export keeps back: the log may have been written anew`;
      this.#parts.findings.add("checkpoint_hidden", message, { origin });
    });
    return own;
  }

  /** With a date of its own choice, an entry that the export keeps back would pass for one from after it. */
  #isDated(at: string): boolean {
    return isTime(at) && Date.parse(at) <= Math.max(this.#parts.now, Date.now()) + lagMs;
  }

  #countNewer(at: string): void {
    if (Date.parse(at) > this.#parts.now) return;
    this.#newer.count += 1;
    if (at > this.#newer.at) this.#newer.at = at;
  }

  /** The export's date is its author's word: set back, it would excuse what was cut off. */
  #tellNewer(): void {
    const { file, findings, now } = this.#parts;
    const { count, at } = this.#newer;
    if (count === 0) return;
    const words = `the installation's log has ${count} newer checkpoints of this workspace, the newest of ${at}: nothing is said about what they cover. Export again`;
    const isFresh = now - Date.parse(file.header?.at ?? "") <= freshMs;
    if (isFresh) findings.notes.push(words);
    else this.#doubt(`${words}, or say with --at that you ask about the export's own time`);
  }

  #doubt(message: string): void {
    this.#parts.findings.doubts.push(message);
  }

  /** By more than it takes until a checkpoint is in the installation's log. */
  #isOlder(at: string): boolean {
    const { header } = this.#parts.file;
    return Date.parse(at) < Date.parse(header?.at ?? "") - lagMs;
  }

  /** Anybody may have an installation's log, and a witness that cosigns it. */
  #isBeside(origin: string): boolean {
    const site = installationOf(origin)?.site;
    return site !== undefined && this.#sites([]).includes(site);
  }

  #sites(installations: readonly string[]): string[] {
    const { header, trees } = this.#parts.file;
    const sites = [
      ...trees.map(({ origin }) => siteOf(origin, header?.workspace ?? "")),
      ...installations.map((origin) => installationOf(origin)?.site ?? null),
    ];
    return [...new Set(sites.filter((site) => site !== null))];
  }

  async #labelsAt(sites: readonly string[]): Promise<Map<string, string>> {
    const { file, tools } = this.#parts;
    const labels = new Map<string, string>();
    for (const site of sites) {
      for (let generation = 1; generation <= generationsMax; generation += 1) {
        const origin = nameAt(`${site}/${file.header?.workspace}`, generation);
        labels.set(await logLabelOf(origin, tools.hashMany), origin);
      }
    }
    return labels;
  }

  async #place(proven: Proven): Promise<Placed | null> {
    const { file, tools } = this.#parts;
    const proof = parseLogProof(proven.proof);
    if (proof === null) return this.#refuse("a proof in the installation's log can't be read");
    const { checkpoint: head, note } = proof;
    if (!this.#isBeside(head.origin))
      this.#refuse(`${head.origin} is not the installation's log beside this workspace's`);
    if (!(await this.#entries.isIncluded(proven.entry, proof)))
      return this.#refuse(`entry ${proven.index} of the installation's log isn't there`);
    if ((await file.signerOf({ note, origin: head.origin }, tools)) === null)
      return this.#refuse("the installation's checkpoint is signed by no key of the history");
    const [named] = await this.#entries.open([{ ...proven, log: head.origin }]);
    if (named === undefined || named === null)
      return this.#refuse(
        `entry ${proven.index} of the installation's log stands for something else`,
      );
    return this.#entries.isExported(named) ? { named, note, head } : null;
  }

  #refuse(message: string): null {
    this.#parts.findings.add("installation_differs", message);
    return null;
  }
}
