// Sets the folder in which Node keeps the compiled program, so that a start need not strip types and compile again:
// that takes time, and the stripper's memory for as long as the process lives. Node compares each entry with its file,
// so changed files are compiled again.
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

/**
 * Among the installed packages, where only people write who may change the program itself. Never in a folder that
 * others write to: Node runs the kept code as it is.
 */
export const compileCacheFolder = fileURLToPath(
  new URL("../../node_modules/.cache/countersign", import.meta.url),
);

/** If the folder can't be written, the program starts without it. */
export function keepCompiled() {
  enableCompileCache(compileCacheFolder);
}
