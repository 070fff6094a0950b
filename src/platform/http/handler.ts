import type { Readable } from "node:stream";
import type { Log } from "../log/log.ts";
import type { ObservedRequest } from "../log/metrics.ts";
import type { Reach } from "../reach.ts";
import type { TraceParent } from "../tracing/trace-parent.ts";
import type { AssistantScope, Contract, InputOf, OutputOf, Route } from "./route.ts";

/** The caller, after the check of the credential. */
export type Caller =
  | {
      kind: "public";
      /** Has the metrics token. */
      is_monitor?: true;
    }
  | (Reach & {
      kind: "user";
      account_type: "owner" | "reseller" | "client";
      user_id: number;
      role: "super_admin" | "admin" | "agent";
      sign_in: string;
      /** The password was given within the last ten minutes. */
      is_fresh: boolean;
      /** Signed in by the cookie of the panel. */
      is_panel?: true;
    })
  | {
      kind: "key";
      account_id: number;
      instance_id: number;
      key_id: number;
      /** What it reads: its own instance, or all of the account's. */
      scope: "instance" | "account";
      /** Whether the account lets its keys list and create its instances. */
      may_manage: boolean;
    }
  | (Reach & {
      /** An assistant that a user has connected through OAuth. */
      kind: "assistant";
      user_id: number;
      role: "super_admin" | "admin" | "agent";
      grant_id: number;
      instance_ids: readonly number[];
      scopes: readonly AssistantScope[];
    })
  | { kind: "admin" };

/** The credential of a request: an API key, a JWT, the administrative token, or the session cookie of the panel. */
export interface Credential {
  readonly kind: "key" | "bearer" | "admin" | "session";
  readonly value: string;
}

/** A request as the central access check sees it, before its body is read. */
export interface AuthoriseRequest {
  readonly credential: Credential | undefined;
  /**
   * On routes with access `instance`: the `:id` of the path; 0 (an id that never exists) if it is no row id.
   */
  readonly instanceId?: number;
  /** On routes with `pathToken`: the values of the path; the id is 0 if it is no row id. */
  readonly pathToken?: { readonly instanceId: number; readonly token: string } | undefined;
  /** Address of the peer. */
  readonly ip: string;
  /** Headers set here are sent with any response (rate limits). */
  readonly responseHeaders: Record<string, string>;
  /** Sent by a handler of this process (`fetchAsCaller`). */
  readonly isInProcess?: boolean;
  /** Rechecks the caller of a response that is still being sent; does not count against the rate limits. */
  readonly isRecheck?: boolean;
}

/**
 * Identifies the caller; throws a GatewayError to reject it. A request with an administrative token on a
 * `public` route is first checked with access `admin`; if that fails, it is an ordinary public caller.
 */
export type Authorise = (route: Route, request: AuthoriseRequest) => Promise<Caller>;

/** One request as a handler sees it: the parsed input and the caller. */
export interface HandlerRequest<R extends Route> {
  readonly input: InputOf<R>;
  readonly caller: Caller;
  readonly request_id: string;
  readonly log: Log;
  /** Address of the peer. */
  readonly ip: string;
  /** The validated `Idempotency-Key` header, on routes that honour it. */
  readonly idempotencyKey: string | undefined;
  /** The span of the request, for what it causes; undefined while tracing is off. */
  readonly trace: TraceParent | undefined;
  /** The raw JSON body, on routes that are `signed`. */
  readonly bytes: Buffer | undefined;
  /**
   * Counts bytes that this request holds in memory until its handler ends. Throws UNAVAILABLE over the
   * budget.
   */
  reserveMemory(bytes: number): void;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** From the cookie of a browser in which somebody has signed in. */
  readonly deviceToken: string | undefined;
  /** Request headers in lower case, without credentials. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * Sends a request to another route of this process as the same caller, with its access, limits and logs. The
   * host of the URL does not matter.
   */
  readonly fetchAsCaller: typeof fetch;
}

export type Handler<R extends Route> = (request: HandlerRequest<R>) => Promise<HandlerResult<R>>;

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
  /** One of the route's `statuses`; 200 (202 for `AcceptedResponse`) when absent. */
  status?: number;
}

/** A 200 response with more than its data. */
export class OkResponse<T> {
  readonly data: T;
  readonly options: OkResponseOptions;
  constructor(data: T, options: OkResponseOptions = {}) {
    this.data = data;
    this.options = options;
  }
}

/** A 202 response: accepted, and done later. */
export class AcceptedResponse {
  readonly data: unknown;
  readonly options: OkResponseOptions;
  constructor(data: unknown, options: OkResponseOptions = {}) {
    this.data = data;
    this.options = options;
  }
}

/** A response without the envelope: a file, a page, a stream. */
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

/** A request after its response. */
export interface CompletedRequest extends ObservedRequest {
  request_id: string;
  ip: string;
  /** The caller, if known. */
  caller?: Caller;
  /** Code of the error. */
  code?: string;
  /** The instance in the path. */
  instance_id?: number;
}
