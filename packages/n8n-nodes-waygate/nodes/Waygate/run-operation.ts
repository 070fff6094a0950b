import type { IDataObject, IExecuteFunctions, INodeExecutionData } from "n8n-workflow";
import { buildRequest, type GatewayRequest, type RequestInput } from "./build-request.ts";
import { callGateway } from "./call-gateway.ts";
import { idempotencyKey } from "./idempotency-key.ts";
import type { FilePart } from "./multipart-body.ts";
import type { Operation, OperationField } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import type { GatewayResponse } from "./read-response.ts";

/** The gateway's largest page. */
const PAGE = 200;

/** Runs the chosen operation for one item. */
export async function runOperation(
  context: IExecuteFunctions,
  itemIndex: number,
): Promise<INodeExecutionData[]> {
  const resource = context.getNodeParameter("resource", itemIndex) as string;
  const name = context.getNodeParameter("operation", itemIndex) as string;
  const operation = OPERATIONS[resource]?.[name];
  if (!operation) throw new Error(`The node has no operation "${name}" of "${resource}".`);
  const { baseUrl, instanceId } = await context.getCredentials("waygateApi", itemIndex);
  const input: RequestInput = {
    instanceId: String(instanceId),
    read: (field) => readParameter(context, itemIndex, field),
    file: await readFile(context, itemIndex, operation),
  };
  const call = (request: GatewayRequest) => callGateway(context, String(baseUrl), request);
  if (operation.isPaginated) {
    const rows = await readPages(context, itemIndex, operation, input, call);
    return rows.map((row) => ({ json: row as IDataObject, pairedItem: { item: itemIndex } }));
  }
  const request = withIdempotencyKey(context, itemIndex, operation, buildRequest(operation, input));
  return toItems(context, itemIndex, await call(request));
}

function readParameter(context: IExecuteFunctions, itemIndex: number, field: OperationField): unknown {
  const { name, isAdditional, isFileSource } = field;
  if (isAdditional) return additionalFields(context, itemIndex)[name];
  if (isFileSource && context.getNodeParameter("fileSource", itemIndex, "") !== name) return undefined;
  return context.getNodeParameter(name, itemIndex, "");
}

function additionalFields(context: IExecuteFunctions, itemIndex: number): IDataObject {
  return context.getNodeParameter("additionalFields", itemIndex, {}) as IDataObject;
}

/** The file of the item, for operations that take one. */
async function readFile(
  context: IExecuteFunctions,
  itemIndex: number,
  { upload }: Operation,
): Promise<FilePart | undefined> {
  if (upload === undefined) return undefined;
  const source = context.getNodeParameter("fileSource", itemIndex, "") as string;
  const name =
    source === "binary"
      ? context.getNodeParameter("binaryPropertyName", itemIndex, "data")
      : additionalFields(context, itemIndex).binaryPropertyName;
  if (name === undefined || name === "") return undefined;
  const binary = context.helpers.assertBinaryData(itemIndex, String(name));
  const bytes = await context.helpers.getBinaryDataBuffer(itemIndex, String(name));
  return { bytes, fileName: binary.fileName, mimeType: binary.mimeType };
}

/** A repeated execution sends nothing twice. */
function withIdempotencyKey(
  context: IExecuteFunctions,
  itemIndex: number,
  { isIdempotent }: Operation,
  request: GatewayRequest,
): GatewayRequest {
  if (!isIdempotent) return request;
  const own = additionalFields(context, itemIndex).idempotencyKey;
  const key = own === undefined || own === "" ? keyOf(context, itemIndex, request) : String(own);
  return { ...request, headers: { ...request.headers, "idempotency-key": key } };
}

function keyOf(context: IExecuteFunctions, itemIndex: number, request: GatewayRequest): string {
  // n8n keeps this object when it repeats an execution, which gets a new id.
  const flow = context.getContext("flow");
  flow.waygateExecutionId ??= context.getExecutionId();
  const origin = {
    workflowId: String(context.getWorkflow().id),
    executionId: String(flow.waygateExecutionId),
    nodeId: context.getNode().id,
    runIndex: Number(context.getWorkflowDataProxy(itemIndex).$runIndex),
    itemIndex,
  };
  return idempotencyKey(origin, request);
}

async function readPages(
  context: IExecuteFunctions,
  itemIndex: number,
  operation: Operation,
  input: RequestInput,
  call: (request: GatewayRequest) => Promise<GatewayResponse>,
): Promise<unknown[]> {
  const returnAll = context.getNodeParameter("returnAll", itemIndex, false) as boolean;
  const limit = returnAll
    ? Number.POSITIVE_INFINITY
    : Number(context.getNodeParameter("limit", itemIndex, 50));
  const rows: unknown[] = [];
  let cursor: string | undefined;
  do {
    const more = { limit: Math.min(PAGE, limit - rows.length), ...(cursor !== undefined && { cursor }) };
    const response = await call(buildRequest(operation, { ...input, more }));
    const page = response.kind === "json" && Array.isArray(response.data) ? response.data : [];
    rows.push(...page);
    cursor = response.kind === "json" && page.length > 0 ? response.nextCursor : undefined;
  } while (cursor !== undefined && rows.length < limit);
  return rows;
}

async function toItems(
  context: IExecuteFunctions,
  itemIndex: number,
  response: GatewayResponse,
): Promise<INodeExecutionData[]> {
  const pairedItem = { item: itemIndex };
  if (response.kind === "json") {
    const rows = Array.isArray(response.data) ? response.data : [response.data ?? {}];
    return rows.map((row) => ({ json: row as IDataObject, pairedItem }));
  }
  const { bytes, mimeType, fileName } = response;
  const field = context.getNodeParameter("outputFieldName", itemIndex, "data") as string;
  const binary = await context.helpers.prepareBinaryData(bytes, fileName, mimeType.split(";")[0]?.trim());
  const { fileName: savedAs, mimeType: type, fileExtension } = binary;
  const json = { file_name: savedAs, mime_type: type, file_extension: fileExtension, size: bytes.length };
  return [{ json, binary: { [field]: binary }, pairedItem }];
}
