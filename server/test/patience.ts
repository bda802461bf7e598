// How long tests wait before they call something a hang. These limits are no claims: a test that passes never meets one,
// and a slow machine gets more of them. scripts/test.ts measures at its start how fast the machine is.

/** How many times slower the machine was, when the run began, than two free cores are. */
export const slowness = Math.max(1, Number(process.env.TEST_SLOWNESS) || 1);

/** For one thing to happen: an answer, a start, an end, a page that shows something. */
export const hangMs = Math.round(120_000 * slowness);
/** For a whole test, which waits for many such things. */
export const testHangMs = 10 * hangMs;

/** Waits until something holds. Looks less often the longer it takes: each look takes time from what it waits for. */
export async function until<Value>(
  look: () => Promise<Value | false | null | undefined> | Value | false | null | undefined,
  what = String(look),
): Promise<Value> {
  const end = performance.now() + hangMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(1.2 * pauseMs, 100)) {
    const value = await look();
    if (value !== false && value !== null && value !== undefined) return value;
    if (performance.now() > end) throw new Error(`waited ${hangMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
