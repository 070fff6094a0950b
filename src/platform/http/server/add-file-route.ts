import type { FastifyInstance } from "fastify";
import type { RawResponse } from "../handler.ts";

/** A request for a file or a page, without a body and without a caller. */
export interface FileRequest {
  /** As sent, without the query. */
  readonly path: string;
  readonly headers: { readonly "accept-encoding"?: string; readonly "if-none-match"?: string };
}

/** Files below one path that are not part of the API. */
export interface FileRoute {
  /** Such as `/panel`. */
  readonly path: string;
  serve(request: FileRequest): Promise<RawResponse>;
}

/** Serves `GET` and `HEAD` of the path and all below it. It reads no credential, so it can show nothing of an account. */
export function addFileRoute(app: FastifyInstance, { path, serve }: FileRoute): void {
  for (const url of [path, `${path}/*`]) {
    app.get(url, async (request, reply) => {
      const { "accept-encoding": encodings, "if-none-match": etags } = request.headers;
      const [requested = ""] = request.url.split("?");
      const { type, body, status, headers } = await serve({
        path: requested,
        headers: { "accept-encoding": [encodings ?? []].flat().join(), "if-none-match": etags ?? "" },
      });
      return reply.code(status).type(type).headers(headers).send(body);
    });
  }
}
