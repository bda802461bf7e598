// The health check of the image: does the process answer? It asks no database, because a restart mends none.
const { PROBE_PORT = "3001" } = process.env;
const answer = await fetch(`http://127.0.0.1:${PROBE_PORT}/healthz`).catch(() => null);
process.exitCode = answer?.ok === true ? 0 : 1;
