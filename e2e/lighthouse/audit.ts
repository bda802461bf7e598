// Has Lighthouse look at a page, as a phone and as a desktop. Its packages are large and nothing but one test needs them,
// so they are installed in this folder before tests only.

import { existsSync } from "node:fs";
import { hangMs } from "../../server/test/patience.ts";

export type Form = "phone" | "desktop";

export type Audit = {
  /** From 0 to 100. Without a quiet machine there is no figure for performance. */
  scores: { performance: number | null; accessibility: number; bestPractices: number };
  /** How far the page's parts moved by themselves. */
  layoutShift: number;
  /** The audits that cost points, with Lighthouse's words about them. */
  flaws: string[];
};

const folder = new URL("./node_modules/", import.meta.url);

export const isInstalled = existsSync(new URL("lighthouse/package.json", folder));

type Chrome = { port: number; kill: () => void };
type LighthouseResult = {
  categories: Record<string, { score: number; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<
    string,
    { score: number | null; title: string; displayValue?: string; numericValue?: number }
  >;
};

type AuditOptions = { form: Form; chromePath: string; isQuiet: boolean };

export async function audit(url: string, options: AuditOptions): Promise<Audit> {
  const { form, chromePath, isQuiet } = options;
  const [{ default: lighthouse, desktopConfig }, { launch }] = await Promise.all([
    import(new URL("lighthouse/core/index.js", folder).href),
    import(new URL("chrome-launcher/dist/index.js", folder).href),
  ]);
  const chrome: Chrome = await launch({ chromePath, chromeFlags });
  try {
    const { lhr } = await lighthouse(
      url,
      { port: chrome.port, logLevel: "error", ...(isQuiet ? timed : untimed) },
      form === "desktop" ? desktopConfig : undefined,
    );
    return toAudit(lhr);
  } finally {
    chrome.kill();
  }
}

const lasting = ["accessibility", "best-practices"];
const timed = { onlyCategories: ["performance", ...lasting] };
/** On a machine that does other work too: no network and processor are simulated, and no speed is judged. */
const untimed = {
  onlyCategories: lasting,
  onlyAudits: ["cumulative-layout-shift"],
  throttlingMethod: "provided",
  disableFullPageScreenshot: true,
  maxWaitForLoad: hangMs,
};
const chromeFlags = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  // Nothing leaves this machine, even if a page is tricked into calling out.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
];

function toAudit({ categories, audits }: LighthouseResult): Audit {
  const scoreOf = (id: string) => Math.round((categories[id]?.score ?? 0) * 100);
  const weighty = Object.values(categories).flatMap(({ auditRefs }) =>
    auditRefs.filter(({ weight }) => weight > 0).map(({ id }) => id),
  );
  const flaws = weighty.flatMap((id) => {
    const { score = null, title = "", displayValue = "" } = audits[id] ?? {};
    return score === null || score === 1 ? [] : [`${id} ${score}: ${title} ${displayValue}`.trim()];
  });
  return {
    scores: {
      performance: "performance" in categories ? scoreOf("performance") : null,
      accessibility: scoreOf("accessibility"),
      bestPractices: scoreOf("best-practices"),
    },
    layoutShift: audits["cumulative-layout-shift"]?.numericValue ?? Number.NaN,
    flaws,
  };
}
