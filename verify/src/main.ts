// Starts the program as a command.

import { runVerify } from "./program.ts";

process.exitCode = await runVerify(process.argv.slice(2), {
  env: process.env,
  write: (text) => void process.stdout.write(text),
});
