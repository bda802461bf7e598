// The contents of the documentation in reading order: four readers, and the pages for each. A page's text is a Markdown
// file of the repository; its title is that file's first heading.

export type DocsPage = {
  /** From the root of the repository. */
  file: string;
  /** The last part of the page's address, and of that of its Markdown: /docs/quickstart, /docs/quickstart.md. */
  slug: string;
  /** Its name in lists of pages. */
  name: string;
  /** One sentence about its content. */
  about: string;
};

export type DocsReader = {
  name: string;
  about: string;
  pages: readonly DocsPage[];
};

/** The reference is no Markdown: it is rendered from the OpenAPI document. */
export const reference = {
  slug: "api",
  name: "API reference",
  about: "Every call, field and error, with samples for curl and the SDK.",
} as const;

export const readers: readonly DocsReader[] = [
  {
    name: "Build agents",
    about: "You write the agent that pauses before it acts.",
    pages: [
      page("docs/quickstart.md", "Quickstart", "From a clone to your first approved request."),
      page("docs/concepts.md", "Concepts", "Requests, their states, and payloads."),
      page("docs/votes.md", "Several people", "A quorum, stages, edits, escalation, delegates."),
      page("docs/recipes.md", "Recipes", "Waiting, resuming, batching: ready to copy."),
      {
        file: "sdk/README.md",
        slug: "sdk",
        name: "TypeScript SDK",
        about: "Ask, wait and gate functions from Node, Bun and Deno.",
      },
      page(
        "docs/python.md",
        "Python SDK",
        "Ask, wait and gate functions, blocking or with asyncio.",
      ),
      page("docs/adapters.md", "Adapters", "A person before the tools of your agent framework."),
      page(
        "docs/hooks.md",
        "Hooks",
        "A person before the tools of Claude Code, Codex, Cursor and Gemini CLI.",
      ),
      page(
        "docs/hook-claude-code.md",
        "Hook: Claude Code",
        "Settings, rules, and what holds there.",
      ),
      page("docs/hook-codex.md", "Hook: Codex", "Settings, rules, and what holds there."),
      page("docs/hook-cursor.md", "Hook: Cursor", "Settings, rules, and what holds there."),
      page("docs/hook-gemini-cli.md", "Hook: Gemini CLI", "Settings, rules, and what holds there."),
      page("docs/mcp.md", "MCP server", "Tools for models that ask for approval themselves."),
      page(
        "docs/durable.md",
        "Workflow engines",
        "Waiting for days on Temporal, Inngest and Cloudflare Workflows.",
      ),
      page(
        "docs/automation.md",
        "Automation",
        "A person before a job of GitHub Actions or a workflow of n8n.",
      ),
      page(
        "docs/native-gates.md",
        "Native gates",
        "What frameworks do by themselves when nobody decides, on a crash, and on an edit.",
      ),
      // The name of the file is the address of the reference.
      {
        file: "docs/api.md",
        slug: "http-api",
        name: "HTTP API",
        about: "Every call, its fields, and the order of its checks.",
      },
      page("docs/errors.md", "Errors", "Error by error: what it means and what to do."),
    ],
  },
  {
    name: "Receive webhooks",
    about: "Your service learns of each decision.",
    pages: [
      page("docs/webhooks.md", "Webhooks", "The events, and how to verify them."),
      page("docs/receipts.md", "Receipts", "Proof that an executor checks by itself."),
      page(
        "docs/proof.md",
        "Proof",
        "For auditors: what is kept, what it proves, and what it can’t.",
      ),
    ],
  },
  {
    name: "Operate",
    about: "You run Countersign for others.",
    pages: [
      page(
        "docs/operating.md",
        "Operating",
        "Configuration, mail, proxies, backup, upgrades, scaling.",
      ),
      page(
        "docs/deploying.md",
        "Deploying",
        "An image, Compose, Kubernetes and systemd, ready to be changed.",
      ),
      page("docs/dashboard.md", "The dashboard", "Signing in, roles, and what the figures mean."),
      page("docs/slack.md", "Slack", "Asking and deciding in Slack: set-up, proof, limits."),
      page("docs/teams.md", "Microsoft Teams", "Cards for a group, by a Workflows webhook."),
      {
        file: "SECURITY.md",
        slug: "security",
        name: "Security",
        about: "What is protected, what isn’t, and how to report a weakness.",
      },
      page(
        "docs/performance.md",
        "Performance",
        "How fast it is, against the best its machine can do.",
      ),
      page("docs/scaling.md", "Scaling", "How far one installation goes, and what comes after it."),
      page("docs/faults.md", "Faults", "What was broken around it on purpose, and what that did."),
    ],
  },
  {
    name: "Approve",
    about: "You got a mail that asks you to decide.",
    pages: [
      page("docs/approvers.md", "For approvers", "What this mail is, and what your decision does."),
      page("docs/inbox.md", "The inbox", "All that waits for you, by keyboard and on a phone."),
      page("docs/reviewing.md", "The review page", "What the page shows, and its guarantees."),
    ],
  },
];

export const pages: readonly DocsPage[] = readers.flatMap((reader) => reader.pages);

function page(file: string, name: string, about: string): DocsPage {
  return { file, slug: file.replace(/^docs\//, "").replace(/\.md$/, ""), name, about };
}
