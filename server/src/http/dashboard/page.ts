// The HTML around the dashboard, and its content security policy. It holds no data of any workspace.

import { randomBytes } from "node:crypto";
import { escapeHtml } from "../../domain/mail/html-text.ts";
import type { Answer } from "../frame/call.ts";
import { basePathOf } from "../frame/paths.ts";
import type { DashboardCalls } from "./visit.ts";

const nonceBytes = 16;

export function dashboardHtml({ assets, origin }: DashboardCalls): Answer {
  const { files, basePath, nonce } = {
    files: assets.dashboard,
    basePath: basePathOf(origin.publicUrl),
    nonce: randomBytes(nonceBytes).toString("base64"),
  };
  const at = (file: string) => escapeHtml(`${basePath}/${file}`);
  const styles = files.styles.map((file) => `<link rel="stylesheet" href="${at(file)}">\n`);
  const parts = files.parts.map((file) => `<link rel="modulepreload" href="${at(file)}">\n`);
  return {
    status: 200,
    headers: { "content-security-policy": contentSecurityPolicy(nonce) },
    type: "text/html; charset=utf-8",
    body: `<!doctype html>
<html lang="en" data-base="${escapeHtml(basePath)}">
<head>
<meta charset="utf-8">
<title>Countersign</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta property="csp-nonce" nonce="${nonce}">
<link rel="icon" type="image/svg+xml" href="${at(files.icon)}">
${styles.join("")}${parts.join("")}<script type="module" src="${at(files.script)}"></script>
</head>
<body>
<div id="root"></div>
<noscript><p>The dashboard needs JavaScript. Allow it for this address, or use the countersign command.</p></noscript>
</body>
</html>
`,
  };
}

/** One library sets a style of its own while a dialog is open; the nonce is for it. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
}
