// Entries of the installation's log that an export opens: each must stand for a checkpoint of the exported log.

import { utf8 } from "../proof/bytes.ts";
import { areSalted, logLabelOf, readCheckpointEntry } from "../proof/log-entry.ts";
import type { LogProof } from "../proof/log-proof.ts";
import { type Checkpoint, parseCheckpoint, rootNameOf } from "../proof/note.ts";
import { isIncluded, leafHash } from "../proof/tree.ts";
import type { ExportFile, InstalledLine } from "./file.ts";
import type { Findings } from "./findings.ts";
import type { ExportTools } from "./tools.ts";

export class InstallationEntries {
  readonly #findings: Findings;
  readonly #tools: ExportTools;
  readonly #exported: ReadonlySet<string>;
  readonly #labels = new Map<string, string>();

  constructor({
    file,
    findings,
    tools,
  }: { file: ExportFile; findings: Findings; tools: ExportTools }) {
    this.#findings = findings;
    this.#tools = tools;
    const own = [...file.checkpoints.values()].flat().filter(({ from }) => from === "export");
    this.#exported = new Set(own.map(rootNameOf));
  }

  isExported(checkpoint: Checkpoint): boolean {
    return this.#exported.has(rootNameOf(checkpoint));
  }

  async isIncluded(entry: string, { index, hashes, checkpoint }: LogProof): Promise<boolean> {
    const { hashMany } = this.#tools;
    const { size, root } = checkpoint;
    const leaf = await leafHash(utf8(entry), hashMany);
    return isIncluded({ index, size, leaf, proof: hashes, root }, hashMany);
  }

  /** The checkpoint that each entry stands for, null if it doesn't. Each must be one of the exported log. */
  async open(lines: readonly InstalledLine[]): Promise<(Checkpoint | null)[]> {
    const read = lines.map(readCheckpointEntry);
    const right = await areSalted(
      read.map(({ entry, body }, at) => ({
        ...{ entry, field: "checkpoint", text: body, salt: String(lines[at]?.salt) },
      })),
      this.#tools.hashMany,
    );
    const opened: (Checkpoint | null)[] = [];
    for (const [at, { entry, body }] of read.entries()) {
      const named = right[at] ? parseCheckpoint(body) : null;
      const isNamed = named !== null && entry.id === (await this.#labelOf(named.origin));
      opened.push(isNamed ? named : null);
      if (!isNamed || this.isExported(named)) continue;
      const message = `the installation's log has another checkpoint of ${named.size} entries of ${named.origin}`;
      this.#findings.add("split_view", message, { origin: named.origin, index: named.size - 1 });
    }
    return opened;
  }

  async #labelOf(origin: string): Promise<string> {
    const known = this.#labels.get(origin);
    const label = known ?? (await logLabelOf(origin, this.#tools.hashMany));
    this.#labels.set(origin, label);
    return label;
  }
}
