// The HTML part of a mail: one column of tables with inline styles, because Outlook understands those, and no image,
// font or address from outside. The only link is the one of a button block. Colours are tokens in pairs, light and
// dark; none is pure black or white, so that programs that invert by force keep the contrast.

import { escapeHtml } from "./html-text.ts";
import { inertLines, inertPieces, type Piece } from "./inert-text.ts";
import type { Block, Fact, Letter, ListedRequest, Quote, Words } from "./letter.ts";

type Tone = { light: string; dark: string };
const ground: Tone = { light: "#f3f4f7", dark: "#10141a" };
const card: Tone = { light: "#fefefe", dark: "#191f28" };
const frame: Tone = { light: "#f6f7fa", dark: "#131820" };
const hairline: Tone = { light: "#dde1e8", dark: "#2f3845" };
const ink: Tone = { light: "#1b2330", dark: "#e8ecf2" };
const quiet: Tone = { light: "#566072", dark: "#a3aebd" };
const accent: Tone = { light: "#26457f", dark: "#9dbcf7" };
const onAccent: Tone = { light: "#fdfdfe", dark: "#0f1b33" };
const amber: Tone = { light: "#7a4a00", dark: "#f3c777" };
const amberGround: Tone = { light: "#fdf1d6", dark: "#3a2c0f" };

const sans =
  "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans',sans-serif";
const mono = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";
/** An endless word must not push the column wider than the screen. */
const breaking = "overflow-wrap:anywhere;word-break:break-word";

// Programs that show dark mails replace the inline colours by these; a class says which.
const darkRules = [
  `.ground{background-color:${ground.dark}!important}`,
  `.card{background-color:${card.dark}!important;border-color:${hairline.dark}!important}`,
  `.frame{background-color:${frame.dark}!important;border-color:${hairline.dark}!important}`,
  `.ink{color:${ink.dark}!important}`,
  `.quiet{color:${quiet.dark}!important}`,
  `.accent{color:${accent.dark}!important}`,
  `.button{background-color:${accent.dark}!important}`,
  `.on-accent{color:${onAccent.dark}!important}`,
  `.chip{color:${amber.dark}!important;background-color:${amberGround.dark}!important}`,
];

const narrowRules = [
  ".gutter{padding:20px 0 32px!important}",
  ".pad{padding:24px 20px!important}",
  ".wide{padding-left:20px!important;padding-right:20px!important}",
  ".card{border-left:0!important;border-right:0!important;border-radius:0!important}",
  ".label{display:block!important;width:auto!important;padding:0!important}",
  ".value{display:block!important;padding-bottom:12px!important}",
  ".action{width:100%!important}",
  ".button a{display:block!important}",
];

// The styles stand in two blocks, because programs that dislike one rule drop the whole block it is in.
export function htmlPart({ heading, preview, blocks, footer }: Letter): string {
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<meta name="x-apple-disable-message-reformatting">
<title>${escapeHtml(heading)}</title>
<!--[if mso]><style>td,p,h1,a,div{font-family:'Segoe UI',Arial,sans-serif!important}.mono{font-family:Consolas,monospace!important}</style><![endif]-->
<style>
:root{color-scheme:light dark;supported-color-schemes:light dark}
a[x-apple-data-detectors]{color:inherit!important;text-decoration:none!important}
</style>
<style>
@media (max-width:480px){${narrowRules.join("")}}
@media (prefers-color-scheme:dark){${darkRules.join("")}}
</style>
</head>
<body class="ground" style="margin:0;padding:0;width:100%;background-color:${ground.light};-webkit-text-size-adjust:100%;-ms-text-size-adjust:100%">
<div style="display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;mso-hide:all">${escapeHtml(preview)}</div>
${table(
  "ground",
  `width:100%;background-color:${ground.light}`,
  `<tr><td class="gutter" align="center" style="padding:40px 16px 48px">
<!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
${column(heading, blocks, footer)}
<!--[if mso]></td></tr></table><![endif]-->
</td></tr>`,
)}
</body>
</html>
`;
}

function column(heading: string, blocks: readonly Block[], footer: readonly Words[]): string {
  const wordmark = `<p class="wide ink" style="margin:0;padding:0 4px 16px;${font(16, 24, ink, 650)};letter-spacing:-0.01em">countersign</p>`;
  const title = `<h1 class="ink" style="margin:0;${font(20, 28, ink, 650)};letter-spacing:-0.01em">${escapeHtml(heading)}</h1>`;
  const body = table(
    "card",
    `width:100%;table-layout:fixed;background-color:${card.light};border:1px solid ${hairline.light};border-radius:8px;border-collapse:separate`,
    `<tr><td class="pad" style="padding:32px;text-align:left">\n${title}\n${blocks.map(htmlOfBlock).join("\n")}\n</td></tr>`,
  );
  const notes = footer.map(
    (words) =>
      `<p class="quiet" style="margin:0 0 8px;${font(13, 20, quiet)};${breaking}">${htmlOfWords(words)}</p>`,
  );
  return table(
    "column",
    "width:100%;max-width:600px;margin:0 auto",
    `<tr><td style="text-align:left">\n${wordmark}\n${body}\n<div class="wide" style="padding:20px 4px 0">\n${notes.join("\n")}\n</div>\n</td></tr>`,
  );
}

export function htmlOfBlock(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return `<p class="ink" style="margin:12px 0 0;${font(16, 24, ink)};${breaking}">${htmlOfWords(block.words)}</p>`;
    case "quotes":
      return htmlOfFrame(block.quotes);
    case "facts":
      return table(
        "facts",
        "width:100%;table-layout:fixed;margin-top:20px",
        block.facts.map(htmlOfFact).join("\n"),
      );
    case "code":
      return htmlOfCode(block);
    case "button":
      return htmlOfButton(block);
    case "request":
      return htmlOfRequest(block);
    case "verbatim":
      return htmlOfVerbatim(block.text);
    case "commands":
      return htmlOfCommands(block.commands);
    default:
      return block satisfies never;
  }
}

function htmlOfFrame(quotes: readonly Quote[]): string {
  const inside = quotes.map(
    ({ label, text, isMultiLine }, index) =>
      `<p class="quiet" style="margin:${index === 0 ? 0 : 14}px 0 4px;${font(13, 20, quiet, 500)}">${escapeHtml(label)}</p>\n${htmlOfQuote(text, isMultiLine, index === 0 ? font(16, 24, ink) : font(14, 22, ink))}`,
  );
  return table(
    "frame",
    `width:100%;table-layout:fixed;margin-top:20px;background-color:${frame.light};border:1px solid ${hairline.light};border-radius:6px;border-collapse:separate`,
    `<tr><td style="padding:14px 16px 16px;text-align:left">\n${inside.join("\n")}\n</td></tr>`,
  );
}

function htmlOfQuote(text: string, isMultiLine: boolean, face: string): string {
  const lines = isMultiLine ? inertLines(text) : [inertPieces(text)];
  // Characters that leave their line, such as a tower of accents, are cut off and don't reach our words.
  const style = `margin:0;overflow:hidden;${face};${breaking}`;
  return lines
    .map((line) => {
      const html = line.length === 0 ? "&nbsp;" : `<bdi>${htmlOfPieces(line)}</bdi>`;
      return `<div class="ink" dir="auto" style="${style}">${html}</div>`;
    })
    .join("\n");
}

function htmlOfFact({ label, words, detail }: Fact): string {
  const more =
    detail === undefined
      ? ""
      : `<br><span class="quiet" style="${font(13, 20, quiet)}">${escapeHtml(detail)}</span>`;
  return factRow(label, `${htmlOfWords(words)}${more}`);
}

/** Beside the facts, not in a frame: frames hold others' words, and a code in an agent's words isn't ours. */
function htmlOfCode({ label, code, words }: { label: string; code: string; words: Words }): string {
  const face = `${font(22, 28, ink, 600, mono)};letter-spacing:0.12em;white-space:nowrap`;
  const value = `<p class="ink mono" style="margin:0 0 2px;${face}">${escapeHtml(code)}</p><p class="quiet" style="margin:0;${font(13, 20, quiet)}">${htmlOfWords(words)}</p>`;
  return table("facts", "width:100%;table-layout:fixed;margin-top:8px", factRow(label, value, 28));
}

function factRow(label: string, value: string, labelLine = 22): string {
  const edge = "vertical-align:top;text-align:left;padding:0 0 8px";
  return `<tr><td class="label quiet" width="112" style="${edge};width:112px;padding-right:16px;${font(14, labelLine, quiet)}">${escapeHtml(label)}</td><td class="value ink" style="${edge};${font(14, 22, ink)};${breaking}">${value}</td></tr>`;
}

/** Outlook ignores the padding of a link, so there the cell has it (mso-padding-alt). */
function htmlOfButton({ label, url }: { label: string; url: string }): string {
  const href = escapeHtml(url);
  const link = `<a class="on-accent" href="${href}" style="display:inline-block;padding:13px 28px;${font(16, 20, onAccent, 600)};text-decoration:none;border-radius:6px">${escapeHtml(label)}</a>`;
  const cell = `<tr><td class="button" align="center" bgcolor="${accent.light}" style="background-color:${accent.light};border-radius:6px;mso-padding-alt:13px 28px">${link}</td></tr>`;
  return `${table("action", "margin-top:16px;border-collapse:separate", cell)}
<p class="quiet" style="margin:16px 0 0;${font(13, 20, quiet)};overflow-wrap:anywhere;word-break:break-all"><a class="accent" href="${href}" style="color:${accent.light};text-decoration:underline">${href}</a></p>`;
}

/** The font family stands once, at the table. Some mail programs pass neither size nor colour on to cells. */
function htmlOfRequest({ title, quotes, facts, code, link }: ListedRequest): string {
  const small = `font-size:13px;line-height:20px;color:${quiet.light}`;
  const quoted = quotes.map(({ label, text, isMultiLine }) => {
    const lines = isMultiLine ? inertLines(text) : [inertPieces(text)];
    const html = lines.map((line) =>
      line.length === 0 ? "&nbsp;" : `<bdi>${htmlOfPieces(line)}</bdi>`,
    );
    const shown = html.map((line) => `<div dir="auto" style="overflow:hidden">${line}</div>`);
    return `<div class="quiet" style="${small}">${escapeHtml(label)}</div>\n${shown.join("\n")}`;
  });
  const told = facts.map(
    (fact) => `<div>${escapeHtml(fact.label)}: ${htmlOfWords(fact.words)}</div>`,
  );
  const secret =
    code === null
      ? ""
      : `<div>${escapeHtml(code.label)}: <b class="mono" style="font-family:${mono}">${escapeHtml(code.code)}</b></div>\n`;
  const face = `font-size:15px;line-height:23px;color:${ink.light}`;
  const rows = [
    `<tr><td class="ink" style="padding:28px 0 6px;${face};font-weight:600">${escapeHtml(title)}</td></tr>`,
    `<tr><td class="frame ink" style="padding:12px 16px;background-color:${frame.light};border:1px solid ${hairline.light};border-radius:6px;${face}">${quoted.join("\n")}</td></tr>`,
    `<tr><td class="ink" style="padding:8px 0 0;${face}">${told.join("\n")}\n${secret}<a class="accent" href="${escapeHtml(link.url)}" style="color:${accent.light};font-weight:600">${escapeHtml(link.label)}</a></td></tr>`,
  ];
  return table(
    "request",
    `width:100%;table-layout:fixed;border-collapse:separate;text-align:left;font-family:${sans};${breaking}`,
    rows.join("\n"),
  );
}

/** Lines break between words alone, so that no option is torn from its dashes. */
function htmlOfVerbatim(text: string): string {
  return `<pre class="frame ink mono" style="margin:16px 0 0;padding:12px 16px;background-color:${frame.light};border:1px solid ${hairline.light};border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;word-break:break-all;${font(13, 22, ink, 400, mono)}">${escapeHtml(text.trimEnd())}</pre>`;
}

function htmlOfCommands(commands: readonly string[]): string {
  const lines = commands.map((command) => {
    const words = command
      .split(" ")
      .map((word) => `<span style="white-space:nowrap">${escapeHtml(word)}</span>`);
    return `<div style="padding-left:16px;text-indent:-16px">${words.join(" ")}</div>`;
  });
  return `<div class="frame ink mono" style="margin:16px 0 0;padding:12px 16px;background-color:${frame.light};border:1px solid ${hairline.light};border-radius:6px;${font(13, 22, ink, 400, mono)}">\n${lines.join("\n")}\n</div>`;
}

function htmlOfWords(words: Words): string {
  return words
    .map((word) =>
      typeof word === "string"
        ? escapeHtml(word)
        : `<bdi dir="auto">${htmlOfPieces(inertPieces(word.theirs))}</bdi>`,
    )
    .join("");
}

function htmlOfPieces(pieces: readonly Piece[]): string {
  const chip = `color:${amber.light};background-color:${amberGround.light};border-radius:4px;padding:1px 3px;-webkit-box-decoration-break:clone;box-decoration-break:clone;font-family:${mono};font-size:13px`;
  return pieces
    .map(({ kind, text }) =>
      kind === "chip"
        ? `<span class="chip" style="${chip}">${escapeHtml(text)}</span>`
        : withSpaces(escapeHtml(text)),
    )
    .join("");
}

/** HTML shows several spaces as one. */
function withSpaces(html: string): string {
  return html.replaceAll("\t", "    ").replaceAll(/^ | (?= )/g, "&nbsp;");
}

function table(name: string, style: string, rows: string): string {
  return `<table class="${name}" role="presentation" cellpadding="0" cellspacing="0" border="0" style="${style}">\n${rows}\n</table>`;
}

function font(size: number, line: number, { light }: Tone, weight = 400, family = sans): string {
  return `font-family:${family};font-size:${size}px;line-height:${line}px;font-weight:${weight};color:${light}`;
}
