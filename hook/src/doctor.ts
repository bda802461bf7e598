// `countersign-hook doctor`: whether the rules, the key and the harnesses' settings fit together, so that no call can slip
// past. It changes nothing.

import { Countersign } from "../../sdk/src/client.ts";
import { readKey } from "./deciding.ts";
import { type Finding, ok, problem, writableFindings } from "./findings.ts";
import { harnesses } from "./harnesses.ts";
import type { HookOptions } from "./hook.ts";
import type { SettingsPlaces } from "./registrations.ts";
import { type Rules, readRules } from "./rules.ts";
import { examineTrust } from "./rules-check.ts";
import { examineHarness } from "./settings-check.ts";
import { noisyShell } from "./shell-noise.ts";

type DoctorOptions = HookOptions & SettingsPlaces;

export async function runDoctor(options: DoctorOptions): Promise<void> {
  const findings = await examine(options);
  for (const { level, text } of findings) process.stdout.write(`${level.padEnd(8)} ${text}\n`);
  process.exitCode = findings.some(({ level }) => level === "problem") ? 1 : 0;
}

async function examine(options: DoctorOptions): Promise<Finding[]> {
  let rules: Rules;
  try {
    rules = readRules(options.rulesPath);
  } catch (error) {
    return [problem(`Rules: ${messageOf(error)}. Every call is denied.`)];
  }
  const names = options.format === null ? Object.values(harnesses) : [harnesses[options.format]];
  const found = names.map(({ name }) => examineHarness(name, rules, options));
  const isRegistered = found.some(({ registrations }) => registrations > 0);
  return [
    ok(
      `Rules: ${options.rulesPath} has ${rules.rules.length} rules; otherwise ${rules.otherwise}.`,
    ),
    ...writableFindings([options.rulesPath]),
    ...examineTrust(rules),
    ...shellFindings(options.shell),
    ...(await examineService(rules, options)),
    ...found.flatMap(({ findings }) => findings),
    ...(isRegistered
      ? []
      : [problem(`No settings in ${options.project} or in your home folder run this hook.`)]),
  ];
}

async function examineService(rules: Rules, { apiKey }: DoctorOptions): Promise<Finding[]> {
  try {
    const client = new Countersign({
      apiKey: readKey(rules, apiKey),
      baseUrl: rules.service,
      retriesMax: 1,
      timeoutMs: 10_000,
    });
    const approver = await client.requests.defaultApprover();
    const isAlone = rules.notify === null && approver === null;
    const asks = rules.rules.some(({ action, notify }) => action === "ask" && notify === null);
    return [
      ok(`Service: ${rules.service} knows the key.`),
      ...(isAlone && (asks || rules.otherwise === "ask")
        ? [problem("Nobody is set to be asked: set notify in the rules, or a default approver.")]
        : []),
    ];
  } catch (error) {
    return [problem(`Service: ${messageOf(error)}`)];
  }
}

function shellFindings(shell: string | null): Finding[] {
  const noisy = noisyShell(shell);
  if (noisy === null) return [];
  const text = `${noisy} prints a text, from your profile. A harness can't read what the hook says behind it, so edits are handed back.`;
  return [problem(text)];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
