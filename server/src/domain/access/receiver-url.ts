// The form of an address that somebody gives us to POST to. Each attempt decides whether the address behind it may be
// reached, on the address that is really connected to.

/** Says what is wrong with it, or null when it is fine. */
export function flawOfReceiverUrl(text: string, charactersMax: number): string | null {
  if (text.length > charactersMax) {
    return `must be at most ${charactersMax} characters, but has ${text.length}`;
  }
  // The URL parser drops or encodes them without a word; the stored and shown text would still hold them.
  if (
    !text.isWellFormed() ||
    /[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text)
  ) {
    return "must not hold spaces, line breaks or hidden characters; write them as %20 and so on";
  }
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    return "must be a whole address that begins with https:// or http://";
  }
  if (url.username !== "" || url.password !== "") {
    return "must not hold a user name or password: every delivery is signed, verify the signature instead";
  }
  if (url.hash !== "") return "must not hold a fragment (#…): it would not be sent";
  return null;
}
