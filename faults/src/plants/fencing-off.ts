// A worker that lost its lease writes down its end all the same.

import { changingStatements } from "./statements.ts";

const fence = "and d.lease_token = ended.lease_token";

changingStatements((statement) => {
  if (!statement.text.includes(fence)) return null;
  process.stdout.write("planted\n");
  return { ...statement, text: statement.text.replace(fence, "") };
});
