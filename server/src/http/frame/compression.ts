// Compresses answers in an encoding that the caller accepts.

import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { compressedBytesMin } from "../../domain/limits.ts";
import { type Answer, type Call, jsonType, repeated } from "./call.ts";

export const encodings = ["br", "gzip"] as const;
export type Encoding = (typeof encodings)[number];

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
/** Above this level brotli takes several times as long for a few percent. */
const brotliQuality = 5;

/** The encodings the caller accepts, best first; none when it did not say. */
export function acceptedEncodings(header: ReturnType<Call["header"]>): Encoding[] {
  if (header === null || header === repeated) return [];
  const accepted = new Map(header.toLowerCase().split(",").map(toChoice));
  return encodings.filter((name) => (accepted.get(name) ?? accepted.get("*") ?? 0) > 0);
}

function toChoice(text: string): [name: string, quality: number] {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  return [name, Number(quality)];
}

/** For an answer to one caller. Answers that many get are compressed beforehand. */
export async function compressed(call: Call, answer: Answer): Promise<Answer> {
  if (answer.body === null) return answer;
  const headers = { vary: "Accept-Encoding", ...answer.headers };
  // Nobody will read the body, so its length stays unknown.
  if (call.isHead) return { type: jsonType, ...answer, headers, body: null };
  const bytes = typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body;
  const [encoding] = acceptedEncodings(call.header("accept-encoding"));
  if (encoding === undefined || bytes.length < compressedBytesMin) return { ...answer, headers };
  const body = encoding === "br" ? await toBrotli(bytes) : await compressGzip(bytes);
  return { ...answer, headers: { ...headers, "content-encoding": encoding }, body };
}

function toBrotli(bytes: Uint8Array): Promise<Buffer> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return compressBrotli(bytes, { params });
}
