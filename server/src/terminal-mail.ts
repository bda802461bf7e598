// Tells the person at the terminal of mails that were kept for want of a mail server, with the link that matters.
// Never through the log: the link decides, and logs travel.

import type { ComposedMail } from "./operations/compose-mail.ts";

const linesPerSecondMax = 5;

export function makeTerminalMail(
  write: (text: string) => void,
  clock: () => number = () => performance.now(),
): (mail: ComposedMail) => void {
  let second = 0;
  let lines = 0;
  return ({ to, subject, reviewUrl }) => {
    const now = Math.floor(clock() / 1000);
    if (now !== second) [second, lines] = [now, 0];
    lines += 1;
    if (lines > linesPerSecondMax + 1) return;
    // Both have been made fit for people: no control character is left that a terminal would obey.
    if (lines <= linesPerSecondMax) {
      write(`  mail to ${to}  ${subject}\n${reviewUrl === null ? "" : `    ${reviewUrl}\n`}`);
    } else {
      write(`  more mails than fit here; all of them are at /dev/mail\n`);
    }
  };
}
