import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
} from "@modelcontextprotocol/server";
import { isAllowed } from "./is-allowed.ts";
import type { McpOptions } from "./mcp-options.ts";
import { callSignal, requestWithRetry } from "./request-with-retry.ts";
import { findResource, RESOURCE_TEMPLATES, RESOURCES, type Resource } from "./resources.ts";
import { toToolResultText } from "./to-tool-result-text.ts";
import { explainFailure } from "./tool-error.ts";
import { withProgress } from "./with-progress.ts";

const MIME_TYPE = "application/json";
/** Longer than any address of a resource. */
const MOST_URI_CHARACTERS = 500;

/** Answers the requests of a host about resources. */
export function serveResources(server: Server, options: McpOptions): void {
  const mayRead = isAllowed(options, "read");
  const listed = (resources: readonly Resource[]) => (mayRead ? resources : []);
  server.setRequestHandler("resources/list", () => ({
    resources: listed(RESOURCES).map(({ uri, name, description }) => ({
      uri,
      name,
      description,
      mimeType: MIME_TYPE,
    })),
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: listed(RESOURCE_TEMPLATES).map(({ uri, name, description }) => ({
      uriTemplate: uri,
      name,
      description,
      mimeType: MIME_TYPE,
    })),
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
    const resource = !mayRead || uri.length > MOST_URI_CHARACTERS ? undefined : findResource(uri);
    if (!resource) {
      const shown = uri.slice(0, MOST_URI_CHARACTERS);
      throw new ResourceNotFoundError(shown, `There is no resource ${shown}.`);
    }
    try {
      const signal = callSignal(context.mcpReq.signal);
      const result = await withProgress(context, (report) => {
        const read = () => resource.read({ client: options.client, options: { signal }, report });
        return requestWithRetry(read, { ...options, isRepeatable: true, signal });
      });
      const text = toToolResultText(result, resource);
      return { contents: [{ uri, mimeType: MIME_TYPE, text }] };
    } catch (error) {
      const { code, message, request_id } = explainFailure(error, options);
      const data = { code, request_id };
      throw new ProtocolError(ProtocolErrorCode.InternalError, `${code}: ${message}`, data);
    }
  });
}
