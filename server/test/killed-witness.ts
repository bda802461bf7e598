// A witness in a process of its own that is killed when it has kept a head, before it answers.

import { parseVerifierKey, type VerifierKey } from "../src/domain/proof/note.ts";
import { Witness } from "../src/witness/witness.ts";
import { makeWitnessServer } from "../src/witness/witness-server.ts";
import { openWitnessKey } from "../src/witness/witness-state.ts";

const [directory = "", vkey = ""] = process.argv.slice(2);

class KilledWitness extends Witness {
  override async add(body: Uint8Array) {
    const answer = await super.add(body);
    process.kill(process.pid, "SIGKILL");
    return answer;
  }
}

const witness = new KilledWitness({
  name: "witness.example/one",
  directory,
  privateKey: await openWitnessKey(directory),
  logs: [parseVerifierKey(vkey) as VerifierKey],
  clock: () => new Date(),
  tell: () => {},
});
const server = makeWitnessServer({ witness, onFault: () => {} });
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});
