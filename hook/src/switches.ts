// Settings beside a hook's registration that keep it from running, or let somebody else decide what runs in its place.

import { type Finding, problem, warning } from "./findings.ts";
import type { Registration, SettingsFile } from "./registrations.ts";
import { type HarnessName, isObject } from "./tool-call.ts";

export function switchedOff(
  name: HarnessName,
  files: SettingsFile[],
  found: Registration[],
): Finding[] {
  return [
    ...files.flatMap((file) => switchesIn[name](file, found)),
    ...(name === "codex"
      ? [warning("Codex runs a hook only once you have trusted it: look at /hooks in Codex.")]
      : []),
    ...(name === "gemini"
      ? [warning("Gemini CLI runs no hooks, not even your own, in a folder that isn't trusted.")]
      : []),
  ];
}

const switchesIn: Record<HarnessName, (file: SettingsFile, found: Registration[]) => Finding[]> = {
  claude: ({ path, content }, found) => {
    const isElsewhere = found.some(({ file }) => !isManaged(file));
    return [
      ...(content.disableAllHooks === true ? [problem(`${path}: disableAllHooks is set.`)] : []),
      ...(isManaged(path) && content.allowManagedHooksOnly === true && isElsewhere
        ? [problem(`${path}: allowManagedHooksOnly is set, so hooks of other files don't run.`)]
        : []),
      ...(isManaged(path) && content.strictPluginOnlyCustomization && isElsewhere
        ? [
            problem(
              `${path}: strictPluginOnlyCustomization keeps hooks of other files from running.`,
            ),
          ]
        : []),
      ...environmentFindings(path, content.env),
      ...deferFindings(path, content, found),
    ];
  },
  codex: ({ path, content, text }, found) => {
    const unknown = Object.keys(content).filter((key) => !["hooks", "description"].includes(key));
    const isElsewhere = found.some(({ file }) => !file.startsWith("/etc/"));
    return [
      ...(unknown.length === 0
        ? []
        : [problem(`${path}: Codex ignores the whole file because of ${unknown.join(", ")}.`)]),
      ...(path.endsWith(".toml") && /\b(?:codex_)?hooks\s*=\s*false/.test(text)
        ? [problem(`${path}: the feature hooks is off.`)]
        : []),
      ...(path.endsWith(".toml") && /\[hooks\.state\b[^\]]*\][^[]*\benabled\s*=\s*false/.test(text)
        ? [problem(`${path}: hooks.state disables a hook; is it this one?`)]
        : []),
      ...(isElsewhere && /\ballow_managed_hooks_only\s*=\s*true/.test(text)
        ? [problem(`${path}: allow_managed_hooks_only is set, so other hooks don't run.`)]
        : []),
    ];
  },
  cursor: ({ path, content }) =>
    content.version === 1 ? [] : [problem(`${path}: Cursor needs "version": 1.`)],
  gemini: ({ path, content }) => {
    const switches = [content.hooksConfig, content.hooks, content.tools].filter(isObject);
    const isOff = switches.some((each) => each.enabled === false || each.enableHooks === false);
    const names = switches.flatMap(({ disabled }) => (Array.isArray(disabled) ? disabled : []));
    return [
      ...(isOff ? [problem(`${path}: hooks are disabled.`)] : []),
      ...(names.length > 0
        ? [problem(`${path}: disabled names hooks (${names.join(", ")}); is it this one?`)]
        : []),
    ];
  },
};

function isManaged(path: string): boolean {
  return path.endsWith("managed-settings.json");
}

/** Variables by which settings decide which program runs, or whom it believes. */
const powerful =
  /^(?:HOME|PATH|SHELL|ENV|BASH_ENV|ZDOTDIR|(?:NODE|LD|DYLD|COUNTERSIGN|SSL_CERT)_.*|(?:HTTPS?|ALL)_PROXY|CLAUDE_CODE_(?:SIMPLE|SAFE_MODE))$/i;

function environmentFindings(path: string, env: unknown): Finding[] {
  return Object.keys(isObject(env) ? env : {})
    .filter((name) => powerful.test(name))
    .map((name) => problem(`${path}: env sets ${name}, which can replace or mislead this hook.`));
}

function deferFindings(
  path: string,
  content: Record<string, unknown>,
  found: Registration[],
): Finding[] {
  if (!found.some(({ command }) => command?.given.isDeferring)) return [];
  const permissions = isObject(content.permissions) ? content.permissions : {};
  const sandbox = isObject(content.sandbox) ? content.sandbox : {};
  const hasAllowed = Array.isArray(permissions.allow) && permissions.allow.length > 0;
  const isAutomatic = sandbox.enabled === true && sandbox.autoAllowBashIfSandboxed !== false;
  return [
    ...(hasAllowed || "defaultMode" in permissions
      ? [
          problem(
            `${path}: with --defer, no permissions.allow and no defaultMode may let calls pass.`,
          ),
        ]
      : []),
    ...(isAutomatic
      ? [problem(`${path}: with --defer, set sandbox.autoAllowBashIfSandboxed to false.`)]
      : []),
  ];
}
