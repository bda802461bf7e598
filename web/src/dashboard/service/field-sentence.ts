// Turns the service's message about a field ("name: must be …") into a sentence beside that field, where its name is
// visible already.

export function fieldSentence(message: string): string {
  const words = message.replace(/^[\w.]+: /, "");
  const said = /[.!?]$/.test(words) ? words : `${words}.`;
  // An address at the beginning stays as it was typed.
  return /^\S+(?:@|:\/\/)/.test(said) ? said : said.charAt(0).toUpperCase() + said.slice(1);
}

/** The service also names places in a list: `members.2` is shown at `members`. */
export function isAtField(told: string | null, field: string): boolean {
  return told === field || (told?.startsWith(`${field}.`) ?? false);
}
