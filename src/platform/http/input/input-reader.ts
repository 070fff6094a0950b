import type { FastifyRequest } from "fastify";
import { unsupportedMediaType } from "../body/add-body-parsers.ts";
import { createFormReader, FileBody, FormBody } from "../body/form-body.ts";
import type { UploadSpool } from "../body/upload-spool.ts";
import type { InputOf, Route } from "../route.ts";
import { readInput } from "./read-input.ts";

type Fields = Record<string, unknown>;

export type InputReader<R extends Route> = (
  request: FastifyRequest,
  spool: UploadSpool,
) => Promise<InputOf<R>>;

/** Reads a route's input. Throws VALIDATION_ERROR, or UNSUPPORTED_MEDIA_TYPE for an unwanted form. */
export function createInputReader<R extends Route>(route: R): InputReader<R> {
  const { upload, uploadTypes = [], spooled } = route;
  const readForm = upload === undefined ? undefined : createFormReader(route);
  return async ({ params, query, body, routeOptions }, spool) => {
    const parts = { path: params as Fields, query: query as Fields, body };
    if (body instanceof FileBody) {
      if (upload === undefined || !uploadTypes.some((type) => type === body.mime_type))
        throw unsupportedMediaType();
      return readInput(route, { ...parts, body: { [upload]: body } });
    }
    if (!(body instanceof FormBody)) return readInput(route, parts);
    if (upload === undefined) throw unsupportedMediaType();
    const fields = await body.read({ upload, limitBytes: routeOptions.bodyLimit, ...(spooled && { spool }) });
    return readInput(route, { ...parts, body: fields }, readForm);
  };
}
