// An address inside our own words.

/** An agent may choose the address. As long as it is a plain one, a program can only link it to itself. */
export function addressWord(address: string): string | { theirs: string } {
  return /^[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+$/.test(address) ? address : { theirs: address };
}
