import type { Readable } from "node:stream";
import type { Log } from "../log/log.ts";
import type { Contract, InputOf, OutputOf, Route } from "./route.ts";

/** Who is calling, once the credential has been checked. */
export type Caller =
  | {
      kind: "public";
      /** Has shown the metrics token. */
      is_monitor?: true;
    }
  | {
      kind: "user";
      account_id: number;
      account_type: "owner" | "reseller" | "client";
      user_id: number;
      role: "super_admin" | "admin" | "agent";
      sign_in: string;
    }
  | {
      kind: "key";
      account_id: number;
      instance_id: number;
      key_id: number;
      /** What it reads: its own instance, or all of the account. */
      scope: "instance" | "account";
    }
  | { kind: "admin" };

/** What a request shows to prove who is calling: an API key, a JWT, or the administrative token. */
export interface Credential {
  readonly kind: "key" | "bearer" | "admin";
  readonly value: string;
}

/** One request as the central check of access sees it, before its body is read. */
export interface AuthoriseRequest {
  readonly credential: Credential | undefined;
  /** On routes with access `instance`: the `:id` of the path, 0 (an id that never exists) when it is no row id. */
  readonly instanceId?: number;
  /** On routes with `pathToken`: what the path says; the id is 0 when it is no row id. */
  readonly pathToken?: { readonly instanceId: number; readonly token: string } | undefined;
  /** Address of the peer. */
  readonly ip: string;
  /** Headers put here go out with the answer, whatever it will be (rate limits). */
  readonly answerHeaders: Record<string, string>;
  /** Asked again about an answer that is still going out; it counts for nothing. */
  readonly isRecheck?: boolean;
}

/**
 * Decides who is calling; throws the GatewayError that refuses. With an administrative token a `public` route is passed
 * with access `admin` first; a refusal of that means an ordinary public caller.
 */
export type Authorise = (route: Route, request: AuthoriseRequest) => Promise<Caller>;

/** One request as a handler sees it: the parsed input and who asks. */
export interface HandlerRequest<R extends Route> {
  readonly input: InputOf<R>;
  readonly caller: Caller;
  readonly request_id: string;
  readonly log: Log;
  /** Address of the peer. */
  readonly ip: string;
  /** The `Idempotency-Key` header, checked, on routes that honour it. */
  readonly idempotencyKey: string | undefined;
  /** The JSON body as it came, on routes that are `signed`. */
  readonly bytes: Buffer | undefined;
  /** Counts bytes that this request keeps in memory until its handler ends. Throws UNAVAILABLE without room for them. */
  holdBytes(bytes: number): void;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
  /** Request headers in lower case, without the ones that carry credentials. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type Handler<R extends Route> = (call: HandlerRequest<R>) => Promise<HandlerResult<R>>;

/** One handler per route: a missing one does not compile. */
export type Handlers<C extends Contract> = { readonly [Name in keyof C]: Handler<C[Name]> };

export type HandlerResult<R extends Route> =
  | OutputOf<R>
  | OkResponse<OutputOf<R>>
  | AcceptedResponse
  | RawResponse;

export interface OkResponseOptions {
  message?: string;
  /** Fields beside `data`, declared by the route's `beside`. */
  beside?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** One of the route's `statuses`; 200 (202 for `Accepted`) when absent. */
  status?: number;
}

/** A 200 answer that says more than its data. */
export class OkResponse<T> {
  readonly data: T;
  readonly options: OkResponseOptions;
  constructor(data: T, options: OkResponseOptions = {}) {
    this.data = data;
    this.options = options;
  }
}

/** A 202 answer: taken, and done later. */
export class AcceptedResponse {
  readonly data: unknown;
  readonly options: OkResponseOptions;
  constructor(data: unknown, options: OkResponseOptions = {}) {
    this.data = data;
    this.options = options;
  }
}

/** An answer that is not the envelope: a file, a page, a stream. */
export class RawResponse {
  readonly type: string;
  readonly body: Buffer | string | Readable;
  readonly status: number;
  readonly headers: Record<string, string>;
  constructor(
    type: string,
    body: Buffer | string | Readable,
    status = 200,
    headers: Record<string, string> = {},
  ) {
    this.type = type;
    this.body = body;
    this.status = status;
    this.headers = headers;
  }
}
