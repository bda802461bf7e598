// A proof that an entry is in a log, as a text that needs nothing else to be checked (C2SP tlog-proof).

/** What an entry stands for, handed out beside its proof. */
export type EntryOpening = {
  entry: string;
  fact: string;
  /** In base64url. */
  salt: string;
};

export function formatLogProof(proof: {
  opening: EntryOpening;
  index: number;
  hashes: readonly Buffer[];
  /** The whole note, with cosignatures. */
  checkpoint: string;
  /** The proof that the checkpoint is in the installation's log. */
  installation?: string;
}): string {
  const { entry, fact, salt } = proof.opening;
  const { installation } = proof;
  const extra = Buffer.from(JSON.stringify({ entry, fact, salt, installation })).toString("base64");
  const lines = [
    "c2sp.org/tlog-proof@v1",
    `extra ${extra}`,
    `index ${proof.index}`,
    ...proof.hashes.map((hash) => hash.toString("base64")),
  ];
  return `${lines.join("\n")}\n\n${proof.checkpoint}`;
}
