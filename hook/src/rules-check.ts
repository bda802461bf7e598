// Rules that are read without complaint, and don't do what their author meant.

import { matches } from "./choosing.ts";
import { type Finding, problem, warning } from "./findings.ts";
import { harnesses } from "./harnesses.ts";
import type { Rules } from "./rules.ts";
import type { HarnessName } from "./tool-call.ts";

/** Tools of each harness that change something. The first one runs commands. */
const tools: Record<HarnessName, readonly string[]> = {
  claude: ["Bash", "PowerShell", "Edit", "MultiEdit", "NotebookEdit", "Write", "WebFetch", "Task"],
  codex: ["Bash", "apply_patch"],
  cursor: ["Shell", "Write", "Delete", "Task"],
  gemini: ["run_shell_command", "write_file", "replace", "web_fetch"],
};

/** A service that anybody on the way could answer for, and a key that others can choose. */
export function examineTrust({ service, keyFile }: Rules): Finding[] {
  const { protocol, hostname } = new URL(service);
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return [
    ...(protocol === "https:" || isLocal
      ? []
      : [
          problem(
            `Rules: anybody on the way to ${service} can read the key, and approve. Use https.`,
          ),
        ]),
    ...(keyFile === null
      ? [
          warning(
            "Rules: without keyFile, the settings of a project can set another key, whose owner would approve.",
          ),
        ]
      : []),
  ];
}

/** Spellings that no harness has, and calls that pass although they look gated. */
export function examineTools(name: HarnessName, { rules, otherwise }: Rules): Finding[] {
  const { title } = harnesses[name];
  const known = Object.values(tools).flat();
  const misspelt = rules
    .flatMap((rule) => rule.tools)
    .filter((tool) => !known.includes(tool))
    .flatMap((tool) => {
      const meant = known.find((each) => each.toLowerCase() === tool.toLowerCase());
      return meant === undefined
        ? []
        : [problem(`Rules: there is no tool ${tool}; it is spelt ${meant}.`)];
    });
  if (otherwise !== "pass") return misspelt;
  const [shell = ""] = tools[name];
  const gates = rules.filter(
    (rule) => rule.action !== "pass" && rule.tools.some((pattern) => matches(pattern, shell)),
  );
  if (gates.length === 0) {
    return [...misspelt, warning(`${title}: no rule gates ${shell}, so its commands pass.`)];
  }
  const isPartial = gates.every(({ where }) => where.size > 0);
  return isPartial
    ? [
        ...misspelt,
        warning(
          `${title}: ${shell} is gated by the text of commands alone, and a shell has other ways to write each of them.`,
        ),
      ]
    : misspelt;
}
