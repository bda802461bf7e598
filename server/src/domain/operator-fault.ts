// A fault that only the operator can fix: a setting, a folder, a database.

/** Its message is the one line that the operator reads: what was wrong, and what to do. */
export class OperatorFault extends Error {
  override name = "OperatorFault";
}
