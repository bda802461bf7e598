// The words of the search: how text is cut into terms, which words mean the same, and which are one slip apart.

/** Words that questions are made of, and that say nothing about the answer. */
const fillers = new Set(
  "a about am an and any are as at be been but by can could did do does for from get gets give go has have how i if in into is it its just like make me my need of on one or our set should so some that the their them then there these they this to too many much more up use used using want was we what when where which while who why will with would you your".split(
    " ",
  ),
);

/** Each line is one thing in the words people use for it. The first word is ours. */
const synonyms: readonly string[][] = [
  "cancel withdraw abort recall undo retract",
  "revoke delete remove disable leak leaked compromised",
  "webhook hook callback",
  "passkey 2fa mfa webauthn fido fido2 yubikey totp",
  "rate throttle 429 throttling",
  "limit quota cap maximum max allowance",
  "quota 402 billing volume overage price pricing cost",
  "sign login signin logon password",
  "openid sso oidc saml okta entra azure keycloak authentik",
  "approver reviewer human person",
  "group team",
  "expire deadline expiry expiration lifetime",
  "ttl time lifetime",
  "timeout deadline hang",
  "backup dump snapshot",
  "restore recover recovery disaster",
  "resend replay redeliver redelivery",
  "retry reattempt backoff",
  "verify hmac signature authenticate",
  "verify validate",
  "idempotency duplicate twice dedupe double",
  "edit modify change correct amend",
  "mail email smtp mailbox inbox",
  "database postgres postgresql db sql",
  "upgrade update migrate migration version",
  "scaling scale cluster replica replicas nodes horizontal ha",
  "monitoring metrics prometheus healthcheck observability alert",
  "role permission rights access",
  "proxy nginx caddy tls https ssl",
  "private ssrf firewall cidr intranet internal loopback",
  "digits bigint precision rounding float decimal exact",
  "forge spoof phishing fake genuine scam",
  "poll polling longpoll",
  "resume continue restart",
  "secret credential",
  "key token apikey",
  "reference openapi swagger",
  "typescript javascript node nodejs sdk library",
  "tool tools function",
  "reject deny decline refuse",
  "approve accept allow confirm",
  "start install setup begin",
  "reminder nudge",
  "decide decision verdict",
  "quorum majority multisig foureyes",
  "delegate substitute deputy vacation holiday absence away",
  "benchmark performance throughput latency fast speed",
].map((line) => line.split(" "));

/** By the stem of a word: the stems of the others. */
const synonymsOf = new Map<string, Set<string>>();
for (const line of synonyms) {
  const stems = line.map(stemOf);
  for (const stem of stems) {
    const known = synonymsOf.get(stem) ?? new Set();
    for (const other of stems) if (other !== stem) known.add(other);
    synonymsOf.set(stem, known);
  }
}

/** Two words that are one thing are searched for as one. */
const pairs: readonly [RegExp, string][] = [
  [/\b(?:log|sign)(?:ging|ning|ged|ned)?[ -](?:in|on)\b/g, "login"],
  [/\be-mail/g, "email"],
  [/\b(?:single sign-?on)\b/g, "sso"],
  [/\b(?:two|multi|second)[ -]factor\b/g, "mfa"],
  [/\bset(?:ting)?[ -]up\b/g, "setup"],
  [/\btime[ -]?s? out\b/g, "timeout"],
  [/\b(?:four[ -]eyes?|dual control|two[ -]person)\b/g, "foureyes"],
];

export function isFiller(word: string): boolean {
  return fillers.has(word);
}

/** The words of what somebody typed, without fillers, unless there is nothing else. */
export function wordsOf(typed: string): string[] {
  const lower = pairs.reduce((text, [pair, word]) => text.replaceAll(pair, word), fold(typed));
  const words = [...new Set(lower.split(/[^\p{L}\p{N}_]+/u).filter(Boolean))];
  const telling = words.filter((word) => !isFiller(word));
  return telling.length > 0 ? telling : words;
}

/** The terms of a text. A name such as SECRET_KEY or waitForDecision counts as a whole and by its parts. */
export function termsOf(text: string): string[] {
  return (text.match(/[\p{L}\p{N}_]+/gu) ?? []).flatMap((word) => {
    const parts = word
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1_$2")
      .split("_")
      .filter(Boolean);
    return (parts.length > 1 ? [word, ...parts] : [word]).map(fold);
  });
}

export function fold(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

/** A word with its stem, which is asked for often. */
export type Stemmed = { word: string; stem: string };

export function stemmed(word: string): Stemmed {
  return { word, stem: stemOf(word) };
}

/** How well a term answers to a word that was typed: 1 is the very word, 0 something else. */
export function kinshipOf(term: Stemmed, typed: Stemmed): number {
  const { word } = typed;
  if (term.word === word) return 1;
  if (term.stem === typed.stem) return 0.9;
  if (word.length >= beginningMin && term.word.startsWith(word)) return 0.75;
  if (word.length >= withinMin && term.word.includes(word)) return 0.35;
  return 0;
}

/** Whether the term means the same as the word. */
export function isSynonym(term: Stemmed, typed: Stemmed): boolean {
  return synonymsOf.get(typed.stem)?.has(term.stem) ?? false;
}

/** Whether the word is the term but for one slip of the hand, in this form or another. */
export function isSlip(term: Stemmed, typed: Stemmed): boolean {
  return isOneSlipApart(term.word, typed.word) || isOneSlipApart(term.stem, typed.stem);
}

/** One letter too many, too few, another, or two exchanged. The first letter is rarely the wrong one. */
function isOneSlipApart(term: string, word: string): boolean {
  if (word.length < slipMin || term[0] !== word[0]) return false;
  if (Math.abs(term.length - word.length) > 1) return false;
  let at = 0;
  while (at < word.length && term[at] === word[at]) at += 1;
  const [restOfTerm, restOfWord] = [term.slice(at), word.slice(at)];
  return (
    restOfTerm.slice(1) === restOfWord ||
    restOfTerm === restOfWord.slice(1) ||
    restOfTerm.slice(1) === restOfWord.slice(1) ||
    (restOfTerm.slice(2) === restOfWord.slice(2) &&
      restOfTerm[0] === restOfWord[1] &&
      restOfTerm[1] === restOfWord[0])
  );
}

const beginningMin = 2;
const withinMin = 4;
const slipMin = 4;

/** Crude, and enough: expired, expires and expiring are one word. */
export function stemOf(word: string): string {
  if (word.length < 5) return word.replace(/(?<=\p{L}{3})s$/u, "");
  return word
    .replace(/(?:ations?|ions?|ings?|ies|ied|ers?|es|ed|s|y|e)$/u, "")
    .replace(/(\p{L})\1$/u, "$1");
}
