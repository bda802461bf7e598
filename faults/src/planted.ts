// `npm run faults:planted`: each planted bug must be caught, and a service without one must be found clean.

import { tryPlant } from "./plants/planted.ts";
import { plants } from "./plants/plants.ts";

const wanted = process.argv.slice(2);
for (const plant of [null, ...plants]) {
  if (wanted.length > 0 && !wanted.includes(plant?.name ?? "none")) continue;
  const { plant: name, isCaught, promises, example } = await tryPlant(plant, 1);
  const caught = plant === null ? "nothing found" : `caught: ${example.slice(0, 160)}`;
  const missed =
    plant === null
      ? `found: ${promises.join("; ")}: ${example}`
      : `MISSED; found: ${promises.join("; ")}`;
  process.stdout.write(`${name}: ${isCaught ? caught : missed}\n`);
  if (!isCaught) process.exitCode = 1;
}
