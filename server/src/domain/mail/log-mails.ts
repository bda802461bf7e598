// The mails to owners about the log: its checkpoint of the day, and a witness that has seen another log.

import type { MailContent } from "./mail.ts";
import { toContent } from "./mail.ts";
import { ownersFooter } from "./owner-mails.ts";
import { subjectOf } from "./subject.ts";
import { instantInWords } from "./times.ts";

export type CheckpointMailFacts = {
  workspaceName: string;
  workspaceId: string;
  publicUrl: string;
  /** The signed note. */
  checkpoint: string;
  at: Date;
};

/** Once a day to the workspace's owners. Kept elsewhere, it shows later whether the log was changed. */
export function checkpointMail(facts: CheckpointMailFacts): MailContent {
  const [origin = "", size = ""] = facts.checkpoint.split("\n");
  return toContent(subjectOf("Log checkpoint", facts.workspaceName), {
    heading: "Today’s checkpoint of your log.",
    preview: `${size} entries. Keep this mail: it shows later whether the log was changed.`,
    blocks: [
      {
        kind: "paragraph",
        words: [
          "Every fact of this workspace is an entry of its log. These lines stand for all of them so far. Keep this mail where the operator of the service can’t change it: nobody can then alter, remove or insert an earlier entry without being found out.",
        ],
      },
      { kind: "verbatim", text: facts.checkpoint },
      {
        kind: "facts",
        facts: [
          { label: "Workspace", words: [{ theirs: facts.workspaceName }] },
          { label: "Log", words: [{ theirs: origin }] },
          { label: "Entries", words: [size] },
          { label: "Sent", words: [instantInWords(facts.at)] },
        ],
      },
      {
        kind: "paragraph",
        words: [
          "You need to do nothing. To check an export against it, save the lines of the checkpoint as a file:",
        ],
      },
      {
        kind: "commands",
        commands: ["countersign verify export log.jsonl --checkpoint checkpoint.txt"],
      },
    ],
    footer: ownersFooter(facts),
  });
}

export type ContradictedLogFacts = {
  workspaceName: string;
  workspaceId: string;
  publicUrl: string;
  origin: string;
  witness: string;
  witnessedSize: number;
  size: number;
  at: Date;
};

/** Once for each witness, to everybody who owns a workspace of the installation. */
export function contradictedLogMail(facts: ContradictedLogFacts): MailContent {
  return toContent(subjectOf("Log contradicted", facts.witness), {
    heading: "A witness has seen another log than this service has.",
    preview: "Entries were removed or changed, or a backup was restored.",
    blocks: [
      {
        kind: "paragraph",
        words: [
          "The witness confirmed a log that this service can’t continue: entries that it saw are gone or different here. That happens when the database was restored from an older backup, and when somebody changed it. Decisions since then may be missing.",
        ],
      },
      {
        kind: "facts",
        facts: [
          { label: "Witness", words: [{ theirs: facts.witness }] },
          { label: "Log", words: [{ theirs: facts.origin }] },
          { label: "Entries it saw", words: [String(facts.witnessedSize)] },
          { label: "Entries here", words: [String(facts.size)] },
          { label: "Found", words: [instantInWords(facts.at)] },
        ],
      },
      {
        kind: "paragraph",
        words: [
          "Ask the operator of the service what happened, and the team that runs the witness for the checkpoint it keeps. After a restore the operator opens a new log, which names the last checkpoint of the old one:",
        ],
      },
      { kind: "commands", commands: ["countersign log reopen --after checkpoint.txt"] },
    ],
    footer: ownersFooter(facts),
  });
}
