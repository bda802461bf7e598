// Draws the icons of the inbox as an app, from the brand's mark, into web/src/inbox/app/icons:
//
//   CHROMIUM_PATH=/usr/bin/chromium node scripts/app-icons.ts
//
// They are committed: they change when the brand does, and a build needs no browser.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";

const folder = join(import.meta.dirname, "../web/src/inbox/app/icons");
/** The accent of web/src/look/tokens.css. */
const ground = "#254590";
const mark = "M8 3H3.5v14H8M9.5 6.5h7v7h-7";

type Icon = { name: string; size: number; markShare: number; corner: number };

/** Systems cut a maskable icon to a shape of their own. Only its inner four fifths are sure to be seen. */
const icons: Icon[] = [
  { name: "app-192.png", size: 192, markShare: 0.62, corner: 0.2 },
  { name: "app-512.png", size: 512, markShare: 0.62, corner: 0.2 },
  { name: "app-maskable-512.png", size: 512, markShare: 0.5, corner: 0 },
  { name: "app-touch-180.png", size: 180, markShare: 0.6, corner: 0 },
];

const executablePath = process.env.CHROMIUM_PATH ?? "chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const icon of icons) await writeFile(join(folder, icon.name), await draw(icon));
await writeFile(join(folder, "app-badge-96.png"), await drawBadge(96));
await browser.close();

function draw({ size, markShare, corner }: Icon): Promise<Buffer> {
  const edge = (20 - 20 / markShare) / 2;
  const side = 20 / markShare;
  const square = `x="${edge}" y="${edge}" width="${side}" height="${side}"`;
  return shoot(
    size,
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="${edge} ${edge} ${side} ${side}" fill="none"${corner === 0 ? ` style="background:${ground}"` : ""}><rect ${square} rx="${side * corner}" fill="${ground}"/><path d="${mark}" stroke="#fff" stroke-width="2.1"/></svg>`,
  );
}

/** Android shows the shape of a badge alone, in a colour of its own. */
function drawBadge(size: number): Promise<Buffer> {
  return shoot(
    size,
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 20 20" fill="none"><path d="${mark}" stroke="#fff" stroke-width="2.5"/></svg>`,
  );
}

async function shoot(size: number, svg: string): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  await page.setContent(`<style>body{margin:0}svg{display:block}</style>${svg}`);
  const bytes = await page.screenshot({ omitBackground: true });
  await page.close();
  return bytes;
}
