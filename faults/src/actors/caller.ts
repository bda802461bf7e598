// A call as a careful program makes it: it notes the call before it sends it, and tells a refusal from silence.

import type { Asked } from "../evidence.ts";

const patienceMs = 25_000;

export type Answer = Pick<Asked, "endedAt" | "status" | "answer">;

export type Call = { method: string; path: string; headers: Record<string, string>; body?: string };

/** Where calls are taken: a node, or what stands before the nodes. */
export type Door = { readonly port: number };

/** Notes the call before it is sent, and what came of it in the same note. */
export async function callNoted<Note extends Asked>(
  notes: Note[],
  about: Omit<Note, keyof Asked>,
  doors: readonly Door[],
  node: number,
  call: Call,
): Promise<Answer> {
  const asked: Asked = { at: Date.now(), endedAt: Infinity, node, status: null, answer: null };
  const note = { ...about, ...asked } as Note;
  notes.push(note);
  const answer = await callNode(doors, node, call);
  Object.assign(note, answer);
  return answer;
}

/** A null status means that nobody knows what became of it. */
export async function callNode(
  doors: readonly Door[],
  node: number,
  { method, path, headers, body }: Call,
): Promise<Answer> {
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
    return { endedAt: Date.now(), status: response.status, answer };
  } catch {
    return { endedAt: Date.now(), status: null, answer: null };
  }
}
