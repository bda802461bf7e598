// Tells an MCP client that came without a token where it finds out how to get one (RFC 9728).

import type { Answer } from "./call.ts";

export const resourceMetadataPath = "/.well-known/oauth-protected-resource";

/** For the 401 of /mcp. Other answers stay as they are. */
export function withResourceMetadata(
  answer: Answer,
  { publicUrl }: { readonly publicUrl: string },
): Answer {
  if (answer.status !== 401) return answer;
  const challenge = `Bearer resource_metadata="${publicUrl}${resourceMetadataPath}/mcp"`;
  return { ...answer, headers: { ...answer.headers, "www-authenticate": challenge } };
}
