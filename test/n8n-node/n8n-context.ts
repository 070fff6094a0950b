import { createRequire } from "node:module";
import { join } from "node:path";

// biome-ignore lint/suspicious/noExplicitAny: the node is a program in JavaScript here, and n8n's types are not installed
type Foreign = any;

interface HttpOptions {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

export interface N8nContextOptions {
  /** Of the instance: the credential of the node. */
  credential: { baseUrl: string; instanceId: string; apiKey: string };
  parameters?: Record<string, unknown>;
  items?: readonly Foreign[];
  executionId?: string;
  /** What n8n keeps in an execution, and in its repetition. */
  flow?: Record<string, unknown>;
  staticData?: Record<string, unknown>;
  webhookUrl?: string;
  continuesOnFail?: boolean;
}

/** The requests of a context, with what was sent. */
export const SENT = Symbol("sent");

/** The part of n8n that the nodes use, over real HTTP. */
export function n8nContext(options: N8nContextOptions): Foreign {
  const { credential, parameters = {}, items = [{ json: {} }], staticData = {}, flow = {} } = options;
  const sent: HttpOptions[] = [];
  return {
    [SENT]: sent,
    getInputData: () => items,
    getNode: () => ({ id: "node-1", name: "Waygate" }),
    getWorkflow: () => ({ id: "workflow-1", name: "Shop" }),
    getWorkflowDataProxy: () => ({ $runIndex: 0 }),
    getWorkflowStaticData: () => staticData,
    getExecutionId: () => options.executionId ?? "1",
    getContext: () => flow,
    getCredentials: async () => credential,
    getNodeWebhookUrl: () => options.webhookUrl,
    continueOnFail: () => options.continuesOnFail ?? false,
    logger: { warn() {} },
    // Trigger nodes have no items: their second argument is the fallback.
    getNodeParameter: (name: string, second: unknown, fallback?: unknown) =>
      name in parameters ? parameters[name] : typeof second === "number" ? fallback : second,
    helpers: {
      assertBinaryData: (index: number, name: string) => items[index].binary[name],
      getBinaryDataBuffer: async (index: number, name: string) =>
        Buffer.from(items[index].binary[name].data, "base64"),
      prepareBinaryData: async (bytes: Buffer, fileName: string, mimeType: string) => ({
        data: bytes.toString("base64"),
        fileName,
        mimeType,
      }),
      async httpRequestWithAuthentication(_type: string, request: HttpOptions) {
        sent.push(request);
        const { method, url, headers, body } = request;
        const response = await fetch(url, {
          method,
          headers: { ...headers, "x-api-key": credential.apiKey },
          body: typeof body === "object" ? new Uint8Array(body) : body,
        });
        return {
          statusCode: response.status,
          headers: Object.fromEntries(response.headers),
          body: Buffer.from(await response.arrayBuffer()),
        };
      },
    },
  };
}

/** What the nodes import from n8n, in a few lines. */
export const N8N_WORKFLOW = `class NodeError extends Error {
  constructor(node, error, options = {}) {
    super(options.message ?? error.message);
    Object.assign(this, { node, ...options });
  }
}
exports.NodeApiError = class NodeApiError extends NodeError {};
exports.NodeOperationError = class NodeOperationError extends NodeError {};
exports.NodeConnectionTypes = { Main: "main" };
`;

/** A class of the installed package, as n8n loads it. */
export function loadNode(installedIn: string, path: string): Foreign {
  const require = createRequire(join(installedIn, "package.json"));
  const loaded = require(`n8n-nodes-waygate/dist/${path}.js`);
  const [name = ""] = path.split("/").at(-1)?.split(".") ?? [];
  return new loaded[name]();
}
