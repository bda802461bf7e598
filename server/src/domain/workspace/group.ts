// Approver groups: the form of their keys, which agents write as group:<key>.

const groupKeyPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function isGroupKey(text: string): boolean {
  return groupKeyPattern.test(text);
}
