// Where an MCP client finds out how to get a token: the resource that it called (RFC 9728), and who hands tokens out for
// it (RFC 8414). Both are ours.

import { resourceOf } from "../../domain/access/oauth-question.ts";
import type { Answer } from "../frame/call.ts";

type Origin = { readonly publicUrl: string };

export function showResource({ publicUrl }: Origin): Answer {
  return metadata({
    resource: resourceOf(publicUrl),
    resource_name: "Countersign",
    authorization_servers: [publicUrl],
    bearer_methods_supported: ["header"],
  });
}

export function showServer({ publicUrl }: Origin): Answer {
  return metadata({
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}/app/connect`,
    token_endpoint: `${publicUrl}/oauth/token`,
    registration_endpoint: `${publicUrl}/oauth/register`,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
  });
}

function metadata(value: object): Answer {
  const headers = { "cache-control": "public, max-age=300" };
  return { status: 200, headers, body: JSON.stringify(value) };
}
