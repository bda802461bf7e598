// What the two checkers of the trade say about a packed package: publint about its files and fields, and "are the types
// wrong" about its types, for every way in which somebody may import it.

import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

/** Each complaint in a sentence; none is what we want. */
export async function complaintsAbout(packed: Uint8Array): Promise<string[]> {
  return [...(await flawsOfFiles(packed)), ...(await flawsOfTypes(packed))];
}

async function flawsOfFiles(packed: Uint8Array): Promise<string[]> {
  const tarball = new Uint8Array(packed).buffer;
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
  return messages.map((message) => `publint: ${formatMessage(message, pkg) ?? message.code}`);
}

/**
 * ES modules alone are shipped (decision 37): programs that can't import one are not served. So a resolution that knows
 * no `exports`, and the note that `require` gets an ES module, are no complaints. `engines` names the versions of Node
 * that can require one.
 */
const notServed = ["node10", "node16-cjs"];

async function flawsOfTypes(packed: Uint8Array): Promise<string[]> {
  const checked = await checkPackage(createPackageFromTarballData(new Uint8Array(packed)));
  // A command has no types.
  if (checked.types === false) return [];
  return checked.problems.flatMap((problem) => {
    const where = "resolutionKind" in problem ? problem.resolutionKind : "";
    const entry = "entrypoint" in problem ? problem.entrypoint : "";
    return notServed.includes(where) ? [] : [`types: ${problem.kind} ${entry} ${where}`.trim()];
  });
}
