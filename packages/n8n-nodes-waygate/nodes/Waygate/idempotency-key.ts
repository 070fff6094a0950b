import { createHash } from "node:crypto";
import type { GatewayRequest } from "./build-request.ts";

/** What makes two requests of a workflow the same one. */
export interface RequestOrigin {
  workflowId: string;
  /** Of the first execution, if this one repeats it. */
  executionId: string;
  nodeId: string;
  /** How often the node has run in this execution. */
  runIndex: number;
  itemIndex: number;
}

/**
 * The `Idempotency-Key` of a request. A repeated item of an execution has the same key, and a changed message
 * another one.
 */
export function idempotencyKey(origin: RequestOrigin, { path, body = "" }: GatewayRequest): string {
  const { workflowId, executionId, nodeId, runIndex, itemIndex } = origin;
  const parts = JSON.stringify([workflowId, executionId, nodeId, runIndex, itemIndex, path]);
  return `n8n-${createHash("sha256").update(parts).update(body).digest("hex")}`;
}
