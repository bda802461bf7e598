// Serves the function to Inngest, and turns each verified callback into an event.

import { createServer } from "node:http";
import { serve } from "inngest/node";
import { receive } from "../receiver.ts";
import { inngest, refunds } from "./refunds.ts";

createServer(serve({ client: inngest, functions: [refunds] })).listen(
  Number(process.env.FUNCTIONS_PORT ?? 4001),
);

receive((run) => inngest.send({ name: "refund/decided", data: { run } }));
