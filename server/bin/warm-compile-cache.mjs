// Loads everything that the service may ever load, and ends: Node keeps the compiled code for the first start.
import { keepCompiled } from "./compile-cache.mjs";

keepCompiled();
await import("../src/serve.ts");
// Modules that the service loads on demand.
await import("../src/outbound/openid.ts");
await import("../src/outbound/send-mail.ts");
await import("../../mcp/src/web-handler.ts");
await import("@simplewebauthn/server");
await import("@simplewebauthn/server/helpers");
// It runs what it is told, which is to print its help, and ends the process; that is when Node writes.
process.argv = [...process.argv.slice(0, 2), "--help"];
await import("../src/main.ts");
