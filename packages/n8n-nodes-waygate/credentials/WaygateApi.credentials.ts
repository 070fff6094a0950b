import type {
  IAuthenticateGeneric,
  ICredentialTestRequest,
  ICredentialType,
  INodeProperties,
} from "n8n-workflow";

/** The address of a gateway, and the API key of one of its instances. */
export class WaygateApi implements ICredentialType {
  name = "waygateApi";

  displayName = "Waygate API";

  icon = { light: "file:waygate.svg", dark: "file:waygate.dark.svg" } as const;

  documentationUrl = "https://www.npmjs.com/package/n8n-nodes-waygate";

  properties: INodeProperties[] = [
    {
      displayName: "Base URL",
      name: "baseUrl",
      type: "string",
      default: "",
      required: true,
      placeholder: "https://gateway.example.com",
      description: "Address of the gateway, without a path",
    },
    {
      displayName: "Instance ID",
      name: "instanceId",
      type: "string",
      default: "",
      required: true,
      placeholder: "1",
      description: "Number of the instance, which its API key belongs to",
    },
    {
      displayName: "API Key",
      name: "apiKey",
      type: "string",
      typeOptions: { password: true },
      default: "",
      required: true,
      description: "API key of the instance",
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: "generic",
    properties: { headers: { "x-api-key": "={{$credentials.apiKey}}" } },
  };

  test: ICredentialTestRequest = {
    request: {
      baseURL: "={{$credentials.baseUrl.replace(/\\/+$/, '')}}",
      url: "=/api/v1/instances/{{encodeURIComponent($credentials.instanceId)}}/status",
    },
  };
}
