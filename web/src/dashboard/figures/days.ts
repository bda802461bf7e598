// UTC days as people write them. The service's days are UTC days, so the reader's zone must not shift them.

const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const monthsInFull =
  "January February March April May June July August September October November December".split(
    " ",
  );

/** "2026-11-03" or any ISO time of that day as "3 Nov". */
export function shortDay(day: string): string {
  const [, month, date] = numbersOf(day);
  return `${date} ${months[month - 1] ?? ""}`;
}

/** "2026-11" or any ISO time of that month as "November 2026". */
export function fullMonth(month: string): string {
  const [year, at] = numbersOf(month);
  return `${monthsInFull[at - 1] ?? ""} ${year}`;
}

/** The first day after that month, as "1 December". */
export function dayAfterMonth(month: string): string {
  const [, at] = numbersOf(month);
  return `1 ${monthsInFull[at % 12] ?? ""}`;
}

function numbersOf(text: string): [number, number, number] {
  const [year = "", month = "", date = ""] = text.slice(0, 10).split("-");
  return [Number(year), Number(month), Number(date)];
}
