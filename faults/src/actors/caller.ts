// A call as a careful program makes it: it notes the call before it sends it, and tells a refusal from silence.

const patienceMs = 25_000;

export type Answer = {
  at: number;
  endedAt: number;
  node: number;
  status: number | null;
  answer: string | null;
};

export type Call = { method: string; path: string; headers: Record<string, string>; body?: string };

/** Where calls are taken: a node, or what stands before the nodes. */
export type Door = { readonly port: number };

/** A null status means that nobody knows what became of it. */
export async function callNode(
  doors: readonly Door[],
  node: number,
  { method, path, headers, body }: Call,
): Promise<Answer> {
  const at = Date.now();
  const { port } = doors[node] ?? { port: 0 };
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal: AbortSignal.timeout(patienceMs),
    });
    const answer = await response.text();
    return { at, endedAt: Date.now(), node, status: response.status, answer };
  } catch {
    return { at, endedAt: Date.now(), node, status: null, answer: null };
  }
}
