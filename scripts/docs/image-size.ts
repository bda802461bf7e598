// The size of a picture in CSS pixels, read from its own bytes, so that a page can keep its place free.

export type ImageSize = { width: number; height: number };

/** Screenshots are taken with two pixels for one, so that they are sharp on every screen. */
const pixelsPerCssPixel = 2;

export function sizeOf(file: string, bytes: Buffer): ImageSize {
  if (file.endsWith(".svg")) return sizeOfSvg(file, bytes.toString("utf8"));
  const { width, height } = file.endsWith(".webp") ? sizeOfWebp(file, bytes) : sizeOfPng(bytes);
  return {
    width: Math.round(width / pixelsPerCssPixel),
    height: Math.round(height / pixelsPerCssPixel),
  };
}

function sizeOfPng(bytes: Buffer): ImageSize {
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** A lossy picture, with or without the extended header. */
function sizeOfWebp(file: string, bytes: Buffer): ImageSize {
  const kind = bytes.toString("latin1", 12, 16);
  if (kind === "VP8 ") {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
  if (kind === "VP8X") {
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  }
  if (kind === "VP8L") {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  throw new Error(`${file} is no WebP picture.`);
}

function sizeOfSvg(file: string, text: string): ImageSize {
  const [, width, height] = /<svg[^>]* width="(\d+)" height="(\d+)"/.exec(text) ?? [];
  if (width === undefined || height === undefined) throw new Error(`${file} has no size.`);
  return { width: Number(width), height: Number(height) };
}
