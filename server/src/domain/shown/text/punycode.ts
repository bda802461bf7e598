// Decodes host names in wire form (RFC 3492), so that the page can show the letters behind xn--….

const base = 36;
const damp = 700;
const skew = 38;
const firstBias = 72;
const codePointMax = 0x10ffff;

/** The host with its letters; null if some part is malformed. */
export function decodedHost(host: string): string | null {
  const labels = host.split(".").map((label) => {
    return /^xn--/i.test(label) ? decodedLabel(label.slice(4).toLowerCase()) : label;
  });
  return labels.includes(null) ? null : labels.join(".");
}

function decodedLabel(encoded: string): string | null {
  const cut = encoded.lastIndexOf("-");
  const output = [...encoded.slice(0, Math.max(cut, 0))];
  let codePoint = 128;
  let bias = firstBias;
  let place = 0;
  for (let at = cut + 1; at < encoded.length; ) {
    const before = place;
    let weight = 1;
    for (let threshold = base; ; threshold += base) {
      const digit = digitOf(encoded[at]);
      if (digit === null) return null;
      at += 1;
      place += digit * weight;
      const least = Math.min(Math.max(threshold - bias, 1), 26);
      if (digit < least) break;
      weight *= base - least;
      if (place > codePointMax * base) return null;
    }
    const length = output.length + 1;
    bias = biasFor(place - before, length, before === 0);
    codePoint += Math.floor(place / length);
    if (codePoint > codePointMax) return null;
    place %= length;
    output.splice(place, 0, String.fromCodePoint(codePoint));
    place += 1;
  }
  return output.join("");
}

function digitOf(character: string | undefined): number | null {
  if (character === undefined) return null;
  if (/[a-z]/.test(character)) return character.charCodeAt(0) - 0x61;
  return /[0-9]/.test(character) ? character.charCodeAt(0) - 0x30 + 26 : null;
}

function biasFor(distance: number, length: number, isFirst: boolean): number {
  let delta = isFirst ? Math.floor(distance / damp) : distance >> 1;
  delta += Math.floor(delta / length);
  let rounds = 0;
  while (delta > 455) {
    delta = Math.floor(delta / (base - 1));
    rounds += base;
  }
  return rounds + Math.floor((base * delta) / (delta + skew));
}
