import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { GatewayError } from "../gateway-error.ts";
import { requestIdOf } from "./request-id-of.ts";
import { errorBody } from "./response-serializer.ts";
import { toGatewayError } from "./to-gateway-error.ts";

/** Answers a malformed or too slow request on the raw socket, and closes it. */
export function handleClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const known = toGatewayError(error);
  const refusal =
    known.code === "INTERNAL"
      ? new GatewayError("VALIDATION_ERROR", "This is not a valid HTTP request.")
      : known;
  const request_id = requestIdOf(undefined);
  const { type, body } = errorBody(refusal, request_id);
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    `content-type: ${type}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${request_id}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
