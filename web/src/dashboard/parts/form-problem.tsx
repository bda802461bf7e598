// What went wrong with a form as a whole. Nothing stands here while nothing did.

import { Problem } from "./problem.tsx";

export function FormProblem({ error }: { error: unknown }) {
  return error === null || error === undefined ? null : <Problem error={error} />;
}
