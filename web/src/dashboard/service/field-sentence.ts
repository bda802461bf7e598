// What the service says about one field of a form begins with the field's name in the contract ("name: must be …").
// Beside the field, that name has been said already.

export function fieldSentence(message: string): string {
  const words = message.replace(/^[\w.]+: /, "");
  const said = /[.!?]$/.test(words) ? words : `${words}.`;
  // An address at the beginning stays as it was typed.
  return /^\S+(?:@|:\/\/)/.test(said) ? said : said.charAt(0).toUpperCase() + said.slice(1);
}

/** The service names a place in a list, too: `members.2` is told at `members`. */
export function isAtField(told: string | null, field: string): boolean {
  return told === field || (told?.startsWith(`${field}.`) ?? false);
}
