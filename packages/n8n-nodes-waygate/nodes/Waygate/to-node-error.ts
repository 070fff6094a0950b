import { type INode, NodeApiError, NodeOperationError } from "n8n-workflow";
import { GatewayRefusal } from "./read-response.ts";

/** The error as n8n shows it, with the sentence of the gateway. */
export function toNodeError(
  node: INode,
  error: unknown,
  itemIndex?: number,
): NodeApiError | NodeOperationError {
  if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
  if (error instanceof GatewayRefusal) {
    const { message, description, statusCode } = error;
    const about = { message, description, httpCode: String(statusCode), itemIndex };
    return new NodeApiError(node, { message, description }, about);
  }
  const reason = error instanceof Error ? error : new Error(String(error));
  return new NodeOperationError(node, reason, { itemIndex });
}
