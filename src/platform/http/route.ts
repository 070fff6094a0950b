import { z } from "zod";
import type { ErrorCode } from "../error-codes.ts";
import { boundedText, trimmedText } from "../text/bounded-text.ts";
import { named } from "./schema-name.ts";

/**
 * Who may call a route:
 * - `public`: any caller
 * - `account`: a signed-in user (JWT)
 * - `instance`: the API key of the instance named by `:id`, or a JWT of its account
 * - `key`: any API key, or a JWT; the route finds its own instances
 * - `key_or_admin`: any API key, or the administrative token
 * - `admin`: the administrative token
 * - `owner`: a JWT of the owner account, or the administrative token
 * - `manager`: as `owner`, or a JWT of a reseller, who sees only its own customers
 */
export type RouteAccess =
  | "public"
  | "account"
  | "instance"
  | "key"
  | "key_or_admin"
  | "admin"
  | "owner"
  | "manager";

/** Features that a plan can switch off; a plan that does not mention one includes it. */
export const PLAN_FEATURES = ["campaigns", "crm", "integrations"] as const;
export type PlanFeature = (typeof PLAN_FEATURES)[number];

/** What a user can allow an assistant that connects through OAuth. */
export const ASSISTANT_SCOPES = ["read", "send", "groups"] as const;
export type AssistantScope = (typeof ASSISTANT_SCOPES)[number];

/**
 * Why a request needs the password:
 * - `credential`: it decides who gets in, or what they may do
 * - `destination`: it decides where data goes from now on
 * - `everything`: it returns all data of a kind
 * - `irreversible`: it deletes, now or later, what nobody can bring back
 */
export type ActClass = "credential" | "destination" | "everything" | "irreversible";

/**
 * Alternative names of a field, by its canonical name; a dot reaches into an object (`key.id`). The canonical
 * name wins, then the first given alias. Applies to query and body, never to the path.
 */
export type Aliases = Readonly<Record<string, readonly string[]>>;

/**
 * Fields that the route cannot carry out, and that would change what it does, by their names in any case and with or
 * without underscores; a dot reaches into an object. A request that asks for one is refused.
 */
export type RefusedFields = Readonly<Record<string, RefusedField>>;

export interface RefusedField {
  /** What is wrong, and what to send instead. */
  readonly issue: string;
  /** Whether a value asks for it; by default every value but false, 0 and empty ones, also as text. */
  readonly isAsked?: (value: unknown) => boolean;
}

/** The same refusal for several fields. */
export function refuseAll(issue: string, ...names: readonly string[]): RefusedFields {
  return Object.fromEntries(names.map((name) => [name, { issue }]));
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface AcceptedShape {
  readonly output: z.ZodType;
  readonly beside?: z.ZodObject;
  /** Whether an input requests the 202: then an unavailable database is QUEUE_UNAVAILABLE, not UNAVAILABLE. */
  readonly isRequested?: (input: Readonly<Record<string, unknown>>) => boolean;
}

/** One endpoint of the gateway: who may call it, its input and its output. */
export interface Route<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  /** Method and path, as in the specification: `POST /api/v1/instances/:id/webhooks`. */
  readonly http: `${Method} /${string}`;
  readonly access: RouteAccess;
  /** The minimum role of a signed-in user; if absent, agents may call it too. */
  readonly role?: "admin";
  /**
   * What it does that a stolen sign-in must not do alone: no agent may do it, and another user must have entered the
   * password within the last ten minutes. true: every request does it. Otherwise those that give one of these fields, a dot reaching into
   * an object, or a field with a value: `format=csv`.
   */
  readonly acts?: Readonly<Partial<Record<ActClass, true | readonly string[]>>>;
  /**
   * Its handler keeps to the `instance_ids` of the caller. Without it, a caller who does not reach all instances of the
   * account is refused, unless `:id` names one of its instances (access `instance`).
   */
  readonly keepsToInstances?: true;
  /** The plan feature that the caller's account must have. */
  readonly feature?: PlanFeature;
  readonly summary: string;
  /** Details beyond the summary, in Markdown, for the interactive reference. */
  readonly description?: string;
  /** A JSON body that can be sent unchanged; if absent, one is generated from the schema. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Set if the handler refuses a request without a body, although the input requires no field. */
  readonly requiresBody?: true;
  /** Group in the interactive reference. */
  readonly tag: string;
  /** Path, query and body in one flat object; the path wins. Path and query values are text: coerce them. */
  readonly input: Input;
  /** Shape of `data`. Undeclared fields never leave the gateway. `z.never()` if every response is raw. */
  readonly output: Output;
  /** Fields beside `data` at the top of the response, such as `token` or `pagination`. */
  readonly beside?: z.ZodObject;
  /** Set if the route can return 202: the shapes of that response. */
  readonly accepted?: AcceptedShape;
  /** Message of the envelope, unless the handler sets another. */
  readonly message?: string;
  readonly aliases?: Aliases;
  readonly refuses?: RefusedFields;
  /** What is wrong with a field that the route does not read, by its name in lower case without underscores. */
  readonly refusesOthers?: (name: string, value: unknown) => string | undefined;
  /** What a field says beyond its value, unless the request says otherwise: `sticker` is a file and its type. */
  readonly implies?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Content type of a response that is not JSON, such as `image/png`. */
  readonly raw?: string;
  /** Content type of the same response to a client whose `Accept` header names it. */
  readonly rawForBrowsers?: string;
  /** The output is the whole response body, without an envelope. */
  readonly bare?: boolean;
  /** The response may exceed memory: the client returns it as a stream. */
  readonly streamed?: true;
  /**
   * Codes of errors that the handler can return, beyond those that follow from the declaration: of the
   * credential, the input, the path, limits and failures of the gateway.
   */
  readonly errors?: readonly ErrorCode[];
  /** The statuses of some of its errors, where clients of another gateway expect others than ours. */
  readonly errorStatuses?: Readonly<Partial<Record<ErrorCode, number>>>;
  /** Statuses other than 200: with the same body, or of a redirect. */
  readonly statuses?: readonly number[];
  /** Cost of a request in the rate limits; 1 by default. */
  readonly cost?: number;
  /**
   * Set if its work grows with the data of the account or with a long list in its body. An account has two of such
   * requests at work at once; others wait. `search`: only a request that searches.
   */
  readonly heavy?: true | "search";
  /** Served under any load, and to any caller; only for health checks. */
  readonly isExemptFromLimits?: true;
  /** Authorised by the token in the path (`:id` of an instance, `:token`), checked before the body is read. */
  readonly pathToken?: true;
  /** Whether a request counts as a message in the rate limits. */
  readonly sends?: boolean;
  /** Whether `Idempotency-Key` is honoured. */
  readonly idempotent?: boolean;
  /** The field for the file of a multipart/form-data body, as UploadedFile; other routes accept only JSON. */
  readonly upload?: string;
  /** The file of a form arrives as SpooledUpload instead, whatever its size. */
  readonly spooled?: boolean;
  /** Media types that the whole body may have; the body is then the file. */
  readonly uploadTypes?: readonly "text/csv"[];
  /** The body is an HTML form without files, not JSON. */
  readonly takesForm?: true;
  /** Errors of the server have the body that OAuth defines (RFC 6749). */
  readonly errorFormat?: "oauth";
  /**
   * How the token of an assistant opens this route: sent by the assistant, or only by the tools that it calls. Routes
   * with access `instance` are open to tools anyway.
   */
  readonly assistants?: "directly" | "by tools";
  /** Passes the raw JSON body to the handler, so that it can verify the signature first. */
  readonly signed?: boolean;
  /** Largest body; by default the server's limit, which is higher on routes that take files. */
  readonly bodyLimitBytes?: number;
  /** Most values in a JSON body, including objects and lists; 500,000 by default. */
  readonly bodyLimitValues?: number;
}

/** A file of a form that has arrived completely. It can be read once, during its request. */
export interface SpooledUpload {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  readonly file_name?: string;
  readonly mime_type?: string;
  read(): AsyncIterable<Uint8Array>;
}

/** A file as sent, and as it arrives in a form. */
export interface UploadedFile {
  readonly bytes: Uint8Array;
  readonly file_name?: string;
  readonly mime_type?: string;
}

export type Contract = Readonly<Record<string, Route>>;

/** Declares a route and preserves the exact types of its shapes. An unknown property is a compile error. */
export function route<const R extends Route>(
  declared: R & { readonly [Unknown in Exclude<keyof R, keyof Route>]: never },
): R {
  return declared;
}

export type InputOf<R extends Route> = z.output<R["input"]>;
export type OutputOf<R extends Route> = z.input<R["output"]>;

/** A row id, as used in paths. */
export const rowId = z.coerce.number().int().positive();

/** A point in time; ISO 8601 in UTC in JSON. */
export const isoTime = z
  .date()
  .transform((date) => date.toISOString())
  .pipe(z.iso.datetime());

/** A flag in a query string. */
export const queryFlag = z.union([
  z.boolean(),
  z.enum(["true", "false", "1", "0"]).transform((text) => text === "true" || text === "1"),
]);

/** The query fields of a list. */
export const pageInput = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(50)
    .describe("Most rows per page; a page of large rows has fewer."),
  cursor: boundedText(200).optional().describe("`next_cursor` of the previous page."),
};

/** The query fields of a list that can be searched. */
export const searchInput = {
  ...pageInput,
  q: trimmedText(200)
    .optional()
    .describe("Part of a name, a number or another text of the row. Case and accents do not matter."),
};
export const searchAliases: Aliases = { q: ["search", "query"] };

/** The pagination of a list's response. */
export const pagination = named(
  "Pagination",
  z.object({
    limit: z.number().int(),
    next_cursor: z.string().nullable(),
    has_more: z.boolean(),
  }),
);

/** The response of a removal. */
export const removedRow = named("RemovedRow", z.object({ id: z.number().int() }));
