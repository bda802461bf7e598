// Shows kept mails at the terminal while there is no mail server, each with its link and its code. Never through the
// log: they decide, and logs travel.

import { formatReviewCode } from "./domain/access/review-code.ts";
import { toTerminalText } from "./domain/shown/text/visible-text.ts";
import type { ComposedMail } from "./operations/deliveries/composed-mail.ts";

/** More than this within a period are counted and not shown, and so are all in the period after. */
const shownMax = 5;
const periodMs = 10_000;

export function makeTerminalMail(
  write: (text: string) => void,
  clock: () => number = () => performance.now(),
): (mail: ComposedMail) => void {
  const state = { endMs: Number.NEGATIVE_INFINITY, isBusy: false, shown: 0, counted: 0 };
  return (mail) => {
    const nowMs = clock();
    if (nowMs >= state.endMs) {
      const { counted, endMs } = state;
      if (counted > 0) write(line("Mail", `${counted} more were kept: see /dev/mail`));
      const isBusy = counted > shownMax && nowMs < endMs + periodMs;
      Object.assign(state, { endMs: nowMs + periodMs, isBusy, shown: 0, counted: 0 });
    }
    if (!state.isBusy && state.shown < shownMax) {
      state.shown += 1;
      write(`\n${describe(mail)}\n`);
      return;
    }
    state.counted += 1;
    const isFirst = state.counted === 1 && !state.isBusy;
    if (isFirst) write(line("Mail", "more than fit here: all of them are at /dev/mail"));
  };
}

// The labels stand below those of the welcome. Their text is safe for a terminal: no control character is left that it
// would obey.
function describe({ to, subject, reviewUrl, reviewCode }: ComposedMail): string {
  const review = reviewUrl === null ? "" : line("Review", reviewUrl);
  const code = reviewCode === null ? "" : line("Code", formatReviewCode(reviewCode));
  return `${line("Mail to", to)}${line("Subject", toTerminalText(subject))}${review}${code}`;
}

function line(label: string, text: string): string {
  return `  ${label.padEnd(10)}${text}\n`;
}
