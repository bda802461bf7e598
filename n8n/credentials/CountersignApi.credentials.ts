// The service and the key of a workspace. The test reads whom the workspace asks by default, which every key may.

import type {
  IAuthenticateGeneric,
  ICredentialTestRequest,
  ICredentialType,
  Icon,
  INodeProperties,
} from "n8n-workflow";

export class CountersignApi implements ICredentialType {
  name = "countersignApi";
  displayName = "Countersign API";
  icon: Icon = "file:countersign.svg";
  documentationUrl = "https://approvals.example.com/docs/automation";
  properties: INodeProperties[] = [
    {
      displayName: "Service URL",
      name: "url",
      type: "string",
      default: "",
      required: true,
      placeholder: "https://approvals.example.com",
      description: "The address of your Countersign service",
    },
    {
      displayName: "API Key",
      name: "apiKey",
      type: "string",
      typeOptions: { password: true },
      default: "",
      required: true,
    },
  ];
  authenticate: IAuthenticateGeneric = {
    type: "generic",
    properties: { headers: { Authorization: "=Bearer {{ $credentials.apiKey }}" } },
  };
  test: ICredentialTestRequest = {
    request: { baseURL: "={{ $credentials.url }}", url: "/v1/default-approver" },
  };
}
