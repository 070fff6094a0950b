import type { FastifyRequest } from "fastify";
import { FormBody, formReader } from "./form-body.ts";
import { unsupported } from "./http-body.ts";
import { readInput } from "./read-input.ts";
import type { InputOf, Route } from "./route.ts";

type Fields = Record<string, unknown>;

export type InputReader<R extends Route> = (request: FastifyRequest) => Promise<InputOf<R>>;

/** Reads the input of a route from its requests. Throws VALIDATION_ERROR, or UNSUPPORTED_MEDIA_TYPE for an unwanted form. */
export function createInputReader<R extends Route>(route: R): InputReader<R> {
  const { upload } = route;
  const readForm = upload === undefined ? undefined : formReader(route);
  return async ({ params, query, body }) => {
    const parts = { path: params as Fields, query: query as Fields, body };
    if (!(body instanceof FormBody)) return readInput(route, parts);
    if (upload === undefined) throw unsupported();
    return readInput(route, { ...parts, body: await body.read(upload) }, readForm);
  };
}
