// How the inbox at /dev/mail looks: the tokens of the one design language, light and dark, from phone to desk.

export const devMailStyle = `
:root {
  color-scheme: light dark;
  --ground: oklch(0.985 0.003 260); --card: oklch(1 0 0); --ink: oklch(0.25 0.02 260);
  --quiet: oklch(0.48 0.02 260); --line: oklch(0.9 0.008 260); --accent: oklch(0.4 0.13 262);
  --accent-hover: oklch(0.34 0.13 262); --on-accent: oklch(0.99 0 0); --hover: oklch(0.972 0.005 260);
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: oklch(0.17 0.012 260); --card: oklch(0.21 0.014 260); --ink: oklch(0.93 0.008 260);
    --quiet: oklch(0.72 0.015 260); --line: oklch(0.32 0.015 260); --accent: oklch(0.8 0.09 262);
    --accent-hover: oklch(0.86 0.07 262); --on-accent: oklch(0.18 0.03 262); --hover: oklch(0.245 0.016 260);
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); -webkit-text-size-adjust: 100%;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header, main { max-width: 1040px; margin: 0 auto; padding: 0 24px; }
header { display: flex; gap: 12px; align-items: center; min-height: 64px; font-size: 14px; }
header a { display: inline-flex; gap: 8px; align-items: center; min-height: 44px; font-weight: 650; font-size: 16px;
  letter-spacing: -0.01em; color: inherit; text-decoration: none; }
header svg { color: var(--accent); }
header span { color: var(--quiet); padding-left: 12px; border-left: 1px solid var(--line); }
main { padding-top: 16px; padding-bottom: 64px; }
h1 { font-size: 28px; line-height: 1.25; font-weight: 650; letter-spacing: -0.015em; margin: 0; overflow-wrap: anywhere; }
h2 { display: flex; gap: 8px; margin: 32px 0 8px; font-size: 13px; font-weight: 500; color: var(--ink); }
h2 span { color: var(--quiet); font-weight: 400; }
.lead { color: var(--quiet); max-width: 68ch; margin: 8px 0 0; }
code, pre { font-family: var(--mono); font-size: 13px; }
.lead code { color: var(--ink); }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 6px; }

.inbox { list-style: none; margin: 0; padding: 0; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.inbox li + li { border-top: 1px solid var(--line); }
.inbox a { display: grid; grid-template-columns: minmax(0, 1fr) 232px auto; gap: 0 24px; align-items: center;
  min-height: 48px; padding: 8px 16px; color: inherit; text-decoration: none; font-size: 14px; }
.inbox a:hover { background: var(--hover); }
.inbox a:focus-visible { outline-offset: -2px; border-radius: 8px; }
.inbox .subject, .inbox .to { overflow-wrap: anywhere; }
.subject { font-weight: 500; }
.ours { color: var(--quiet); font-weight: 400; }
.to, .inbox time { color: var(--quiet); }
time { font-variant-numeric: tabular-nums; white-space: nowrap; }

.empty { margin-top: 32px; padding: 32px 24px; border: 1px dashed var(--line); border-radius: 8px; color: var(--quiet); }
.empty p { margin: 0 0 16px; }
.empty strong { color: var(--ink); font-weight: 650; }
.pages { display: flex; gap: 24px; margin-top: 16px; }
.back { margin: 0 0 4px; }
.quiet { display: inline-flex; gap: 8px; align-items: center; min-height: 44px; color: var(--quiet); font-size: 14px;
  text-decoration: none; }
.quiet:hover { color: var(--ink); text-decoration: underline; text-underline-offset: 3px; }

.head { display: flex; gap: 24px 32px; justify-content: space-between; align-items: flex-start; }
.head h1 { font-size: 20px; line-height: 1.35; letter-spacing: -0.01em; }
dl { margin: 16px 0 0; font-size: 14px; }
dl div { display: flex; gap: 16px; padding: 3px 0; }
dt { flex: 0 0 88px; color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
dd time { white-space: normal; }
.action { margin: 0; flex: none; }
.lead + .action { margin-top: 24px; }
.button { display: inline-flex; align-items: center; justify-content: center; min-height: 44px; padding: 0 20px;
  border-radius: 6px; background: var(--accent); color: var(--on-accent); font-weight: 500; text-decoration: none; }
.button:hover { background: var(--accent-hover); }
.views { display: flex; gap: 4px; border-bottom: 1px solid var(--line); margin-top: 24px; font-size: 14px; }
.views a { display: inline-flex; align-items: center; padding: 0 14px; min-height: 44px; color: var(--quiet);
  text-decoration: none; border-bottom: 2px solid transparent; margin-bottom: -1px; }
.views a:hover { color: var(--ink); }
.views a:focus-visible { outline-offset: -2px; }
.views a[aria-current] { color: var(--ink); font-weight: 500; border-color: var(--accent); }
.views .alone { margin-left: auto; padding-right: 0; }
iframe { display: block; width: 100%; border: 1px solid var(--line); border-top: 0; border-radius: 0 0 8px 8px;
  background: var(--card); }
.short { height: 760px; }
.medium { height: 960px; }
.long { height: 1240px; }
pre { margin: 0; padding: 16px; background: var(--card); color: var(--ink); line-height: 1.6;
  border: 1px solid var(--line); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
.views + pre { border-top: 0; border-radius: 0 0 8px 8px; }

@media (max-width: 640px) {
  header, main { padding-left: 16px; padding-right: 16px; }
  h1 { font-size: 20px; }
  .inbox a { grid-template-columns: minmax(0, 1fr) auto; gap: 2px 16px; padding: 12px 16px; }
  .inbox .subject { grid-column: 1 / -1; font-size: 16px; line-height: 1.4; }
  .head { display: block; }
  .head h1 { font-size: 18px; }
  .head .action { margin-top: 16px; }
  .head .button { display: flex; }
  .short { height: 920px; }
  .medium { height: 1270px; }
  .long { height: 1480px; }
}
@media (prefers-reduced-motion: no-preference) {
  .inbox a, .button { transition: background-color 120ms; }
}
`;
