// Some creates are answered, and then not committed.

import { changingStatements } from "./statements.ts";

const every = 6;
let creates = 0;

changingStatements((statement, ask) => {
  if (!statement.text.includes("insert into approvals (")) return null;
  creates += 1;
  if (creates % every !== 0) return null;
  process.stdout.write("planted\n");
  return answerAndForget(statement, ask);
});

async function answerAndForget(statement: unknown, ask: (statement: unknown) => unknown) {
  await ask("begin");
  const answer = await ask(statement);
  await ask("rollback");
  return answer;
}
