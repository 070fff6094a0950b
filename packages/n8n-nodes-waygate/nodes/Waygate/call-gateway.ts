import type { IExecuteFunctions, IHookFunctions } from "n8n-workflow";
import type { GatewayRequest } from "./build-request.ts";
import { type GatewayResponse, type HttpResponse, readResponse } from "./read-response.ts";

/** Sends a request with the credential of the node. Throws GatewayRefusal for an error of the gateway. */
export async function callGateway(
  context: IExecuteFunctions | IHookFunctions,
  baseUrl: string,
  { method, path, headers, body }: GatewayRequest,
): Promise<GatewayResponse> {
  const response = await context.helpers.httpRequestWithAuthentication.call(context, "waygateApi", {
    method,
    url: `${baseUrl.replace(/(?<!\/)\/+$/, "")}${path}`,
    headers,
    ...(body !== undefined && { body }),
    encoding: "arraybuffer",
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
  });
  return readResponse(response as HttpResponse);
}
