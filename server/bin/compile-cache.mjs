// Where Node keeps what it has compiled of the program, so that a start need not strip types and compile again: that
// takes time, and the stripper memory for as long as the process lives. Node compares each entry with its file, so what
// has changed is compiled anew.
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

/**
 * Among the installed packages, where only those write who may change the program itself. Never in a folder that
 * others write to: what is kept there is run as it is.
 */
export const compileCacheFolder = fileURLToPath(
  new URL("../../node_modules/.cache/countersign", import.meta.url),
);

/** Where the folder cannot be written, the program starts as it would without. */
export function keepCompiled() {
  enableCompileCache(compileCacheFolder);
}
