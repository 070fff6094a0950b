import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { GatewayError } from "./errors.ts";
import { FileBody, FormBody } from "./form-body.ts";
import { parseJsonBody } from "./json-body.ts";

const CHARSET = /charset\s*=\s*"?([^";\s]+)/i;

/** Reads JSON in UTF-8 and, where a route takes files, forms; an empty body of any type counts as none. */
export function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (request: FastifyRequest, body: Buffer) => {
      refuseOtherEncodings(request);
      if (request.routeOptions.config.keepBytes) request.bytes = body;
      return parseJsonBody(body, request.routeOptions.config.bodyLimitValues);
    },
  );
  app.addContentTypeParser("multipart/form-data", async (request: FastifyRequest, body: Readable) =>
    isEmpty(request) ? undefined : new FormBody(body, request.headers["content-type"] ?? ""),
  );
  app.addContentTypeParser(
    "text/csv",
    { parseAs: "buffer" },
    async (_request: FastifyRequest, bytes: Buffer) =>
      bytes.length === 0 ? undefined : new FileBody(bytes, "text/csv"),
  );
  app.addContentTypeParser("*", async (request: FastifyRequest) => {
    if (!isEmpty(request)) throw unsupported();
    return undefined;
  });
}

function isEmpty({ headers }: FastifyRequest): boolean {
  return Number(headers["content-length"] ?? "0") === 0 && headers["transfer-encoding"] === undefined;
}

function refuseOtherEncodings({ headers }: FastifyRequest): void {
  const charset = CHARSET.exec(headers["content-type"] ?? "")?.[1] ?? "utf-8";
  const encoding = headers["content-encoding"] ?? "identity";
  if (!/^utf-?8$/i.test(charset) || encoding !== "identity") throw unsupported();
}

export function unsupported(): GatewayError {
  return new GatewayError(
    "UNSUPPORTED_MEDIA_TYPE",
    "Send the body as application/json in UTF-8, not compressed.",
  );
}
