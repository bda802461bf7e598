// The program: its commands and flags. Every end is one of three: 0 valid, 1 not valid, 2 can't tell.

import { parseArgs } from "node:util";
import { consistencyCommand } from "./consistency-command.ts";
import { exportCommand } from "./export-command.ts";
import { CannotTell } from "./given.ts";
import { receiptCommand } from "./receipt-command.ts";
import type { Verdict } from "./verdict.ts";

export const help = `Verifies what Countersign proved, without asking it.

  verify receipt FILE [--payload FILE] [--jwks FILE|URL] [--issuer URL] [--audience NAME]
                      [--credentials FILE] [--proof FILE] [--witness VKEY]… [--at TIME] [--allow-rejected]
  verify export FILE  [--checkpoint FILE]… [--witness VKEY]… [--log URL|FILE] [--jwks FILE|URL] [--keep FILE] [--at TIME]
                      one of --jwks, --checkpoint, --witness and --log must be given
                      --log is the installation's log, whole: it shows that there is no other
                      --keep writes the newest checkpoint of a valid log, for --checkpoint next time
                      --at is the time to verify as of, instead of now
  verify consistency OLD NEW [--export FILE | --log URL [--key-env NAME]] [--jwks FILE|URL] [--at TIME]
                      OLD and NEW are saved checkpoints or exports

  --json              the answer as JSON, for programs

Exit codes: 0 valid, 1 not valid, 2 can't tell (a file or the keys are missing).
`;

const text = { type: "string" } as const;
const several = { type: "string", multiple: true } as const;
const flag = { type: "boolean" } as const;
const flags = {
  receipt: {
    ...{ payload: text, jwks: text, issuer: text, audience: text, credentials: text },
    ...{ proof: text, witness: several, at: text, "allow-rejected": flag, json: flag },
  },
  export: {
    ...{ checkpoint: several, witness: several, log: text, jwks: text, keep: text, at: text },
    json: flag,
  },
  consistency: { export: text, log: text, "key-env": text, jwks: text, at: text, json: flag },
} as const;

export type World = {
  env: Readonly<Record<string, string | undefined>>;
  write: (text: string) => void;
};

export async function runVerify(words: readonly string[], world: World): Promise<number> {
  const isJson = words.includes("--json");
  try {
    const { exitCode, lines, data } = await verdictOn(words, world);
    const text = isJson ? JSON.stringify(data, null, 2) : lines.map(oneLine).join("\n");
    world.write(`${text}\n`);
    return exitCode;
  } catch (error) {
    // Whatever goes wrong here is no verdict, and 1 would be one.
    const message =
      error instanceof CannotTell ? error.message : `this program has a fault (${error})`;
    const said = { ok: null, message };
    const words = message.split("\n").map(oneLine).join("\n");
    world.write(isJson ? `${JSON.stringify(said)}\n` : `Can't tell: ${words}\n`);
    return 2;
  }
}

/** What is verified may be forged, and a forger's control characters would write a verdict of their own. */
function oneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

async function verdictOn(words: readonly string[], { env }: World): Promise<Verdict> {
  const [command = "", ...rest] = words;
  if (command === "receipt") {
    const { values, positionals } = parse(rest, flags.receipt, 1);
    return receiptCommand(positionals[0] as string, values);
  }
  if (command === "export") {
    const { values, positionals } = parse(rest, flags.export, 1);
    return exportCommand(positionals[0] as string, values);
  }
  if (command === "consistency") {
    const { values, positionals } = parse(rest, flags.consistency, 2);
    const { "key-env": name, ...given } = values;
    const key = name === undefined ? undefined : env[name];
    if (name !== undefined && !key) throw new CannotTell(`${name} is not set`);
    const [older, newer] = positionals as [string, string];
    return consistencyCommand(older, newer, { ...given, ...(key === undefined ? {} : { key }) });
  }
  const exitCode = command === "--help" || command === "help" ? 0 : 2;
  return { exitCode, lines: help.trimEnd().split("\n"), data: { help } };
}

function parse<Options extends (typeof flags)[keyof typeof flags]>(
  words: string[],
  options: Options,
  count: number,
) {
  try {
    const parsed = parseArgs({ args: words, options, allowPositionals: true });
    if (parsed.positionals.length === count) return parsed;
  } catch (error) {
    throw new CannotTell(`${error instanceof Error ? error.message : error}\n${help}`);
  }
  throw new CannotTell(`give ${count === 1 ? "one file" : "two files"}\n${help}`);
}
