import type { z } from "zod";
import {
  type CallOptions,
  type ClientOptions,
  createMethods,
} from "../../packages/client/src/create-methods.ts";
import type {
  EitherEnvelope,
  Envelope,
  JsonOrRaw,
  JsonStream,
  RawBody,
  StreamBody,
} from "../../packages/client/src/response-body.ts";
import { contract } from "../contract.ts";
import type { Contract, Route } from "../platform/http/route.ts";
import { toClientRoutes } from "./to-client-routes.ts";

export type { CallOptions, ClientOptions } from "../../packages/client/src/create-methods.ts";
export type { JsonStream, RawBody, StreamBody } from "../../packages/client/src/response-body.ts";
export { WaygateError } from "../../packages/client/src/waygate-error.ts";
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookMessage,
  type WebhookRequest,
  WebhookVerificationError,
} from "../../packages/webhooks/src/verify-webhook.ts";

type Shape = { readonly output: z.ZodType; readonly beside?: z.ZodObject };
type Data<S extends Shape> = z.output<S["output"]>;
type ExtraFields<S extends Shape> = S extends { readonly beside: infer B extends z.ZodType }
  ? z.output<B>
  : unknown;

type JsonResponse<R extends Route> = R extends { readonly bare: true }
  ? Data<R>
  : R extends { readonly accepted: infer Later extends Shape }
    ? EitherEnvelope<Data<R>, ExtraFields<R>, Data<Later>, ExtraFields<Later>>
    : Envelope<Data<R>, ExtraFields<R>>;
type StreamOf<R extends Route> = R extends { readonly bare: true } ? JsonStream<Data<R>> : StreamBody;

/** The whole response body of a route. Of two possible kinds of body, the other kind's fields are undefined. */
export type AnswerOf<R extends Route> = R extends { readonly streamed: true }
  ? StreamOf<R>
  : R extends { readonly raw: string }
    ? R["output"] extends z.ZodNever
      ? RawBody
      : JsonOrRaw<JsonResponse<R>>
    : JsonResponse<R>;

type Input<R extends Route> = z.input<R["input"]>;

/** One method per route of the contract. */
export type ClientOf<C extends Contract> = {
  readonly [Name in keyof C]: Record<never, never> extends Input<C[Name]>
    ? (input?: Input<C[Name]>, options?: CallOptions) => Promise<AnswerOf<C[Name]>>
    : (input: Input<C[Name]>, options?: CallOptions) => Promise<AnswerOf<C[Name]>>;
};

export type Client = ClientOf<typeof contract>;

/** A typed client of the gateway, for Node and browsers. Throws WaygateError for errors of the gateway. */
export function createClient(options: ClientOptions): Client {
  return createClientOf(contract, options);
}

/** A client of any contract. */
export function createClientOf<C extends Contract>(routes: C, options: ClientOptions): ClientOf<C> {
  return createMethods(toClientRoutes(routes), options) as ClientOf<C>;
}
