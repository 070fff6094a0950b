import { z } from "zod";
import { boundedText } from "../text/bounded-text.ts";

/**
 * Who may call a route:
 * - `public`: anybody
 * - `account`: a signed-in user (JWT)
 * - `instance`: the API key of the instance named by `:id`, or a JWT of its account
 * - `key`: any API key, or a JWT; the route finds its own instances
 * - `key_or_admin`: any API key, or the administrative token
 * - `admin`: the administrative token
 * - `owner`: a JWT of the owner account, or the administrative token
 * - `manager`: as `owner`, or a JWT of a reseller, whom the route shows nothing but its own customers
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

/** What a plan can switch off; a plan that says nothing has it. */
export const PLAN_FEATURES = ["campaigns", "crm", "integrations"] as const;
export type PlanFeature = (typeof PLAN_FEATURES)[number];

/**
 * Other spellings of a field, by its canonical name; a dot reaches into an object (`key.id`).
 * The canonical name wins, then the first alias that is given. Applied to query and body, never to the path.
 */
export type Aliases = Readonly<Record<string, readonly string[]>>;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface AcceptedShape {
  readonly output: z.ZodType;
  readonly beside?: z.ZodObject;
  /** Whether an input asks for the 202: then a database that is away is QUEUE_UNAVAILABLE, not UNAVAILABLE. */
  readonly wanted?: (input: Readonly<Record<string, unknown>>) => boolean;
}

/** One thing the gateway can be asked: who may ask, shape in, shape out. */
export interface Route<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  /** Method and path, as in the specification: `POST /api/v1/instances/:id/webhooks`. */
  readonly http: `${Method} /${string}`;
  readonly access: RouteAccess;
  /** The least role of a signed-in user; absent: an agent may, too. */
  readonly role?: "admin";
  /** A signed-in user must have given the password within the last ten minutes. */
  readonly needsPassword?: true;
  /** What the plan of the caller's account must not have switched off. */
  readonly feature?: PlanFeature;
  readonly summary: string;
  /** What the summary leaves open, in Markdown, for the interactive reference. */
  readonly description?: string;
  /** A JSON body that can be sent as it stands; absent: one is made from the schema. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Group in the interactive reference. */
  readonly tag: string;
  /** Path, query and body in one flat object; the path wins. Values of path and query arrive as text: coerce them. */
  readonly input: Input;
  /** Shape of `data`. A field it does not name never leaves the gateway. `z.never()` where every answer is raw. */
  readonly output: Output;
  /** Fields that stand beside `data` at the top of the answer, such as `token` or `pagination`. */
  readonly beside?: z.ZodObject;
  /** Set where the route can answer 202: shapes of that answer. */
  readonly accepted?: AcceptedShape;
  /** Sentence of the envelope, unless the handler says another. */
  readonly message?: string;
  readonly aliases?: Aliases;
  /** Content type of an answer that is not JSON, such as `image/png`. */
  readonly raw?: string;
  /** The output is the whole body of the answer, without an envelope. */
  readonly bare?: boolean;
  /** The answer may be longer than memory: the client returns it as a stream. */
  readonly streamed?: true;
  /** Statuses other than 200 that carry the same body. */
  readonly statuses?: readonly number[];
  /** What a call takes from the rate limits; 1 unless said. */
  readonly cost?: number;
  /** Answered under any load, and to anybody; for health alone. */
  readonly neverHeldUp?: true;
  /** Opened by the token in the path (`:id` of an instance, `:token`), which is checked before the body is read. */
  readonly pathToken?: true;
  /** Whether a call counts as a message in the rate limits. */
  readonly sends?: boolean;
  /** Whether `Idempotency-Key` is honoured. */
  readonly idempotent?: boolean;
  /** The field that a file part of a multipart/form-data body fills, as UploadedFile; other routes take JSON only. */
  readonly upload?: string;
  /** The file of a form arrives as ArrivedFile instead, however large it is. */
  readonly spooled?: boolean;
  /** Media types that may also be the whole body, which is then that file; of those that the server can read. */
  readonly uploadTypes?: readonly "text/csv"[];
  /** Hands the handler the bytes of the JSON body, unread, so that it can check their signature first. */
  readonly signed?: boolean;
  /** Largest body; absent: that of the server, which is larger where a route takes files. */
  readonly bodyLimitBytes?: number;
  /** How many values a JSON body may be made of, objects and lists counted in; absent: 500,000. */
  readonly bodyLimitValues?: number;
}

/** A file of a form that has arrived whole and can be read once, while its request lasts. */
export interface SpooledUpload {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  readonly file_name?: string;
  readonly mime_type?: string;
  read(): AsyncIterable<Uint8Array>;
}

/** A file as it is sent, and as it arrives in a form. */
export interface UploadedFile {
  readonly bytes: Uint8Array;
  readonly file_name?: string;
  readonly mime_type?: string;
}

export type Contract = Readonly<Record<string, Route>>;

/** Declares a route; keeps the exact types of its shapes. A property that `Route` does not know is a compile error. */
export function route<const R extends Route>(
  declared: R & { readonly [Unknown in Exclude<keyof R, keyof Route>]: never },
): R {
  return declared;
}

export type InputOf<R extends Route> = z.output<R["input"]>;
export type OutputOf<R extends Route> = z.input<R["output"]>;

/** A row number, as it stands in paths. */
export const rowId = z.coerce.number().int().positive();

/** A point in time; ISO 8601 in UTC on the wire. */
export const isoTime = z
  .date()
  .transform((date) => date.toISOString())
  .pipe(z.iso.datetime());

/** What a list takes. */
export const pageInput = {
  limit: z.coerce.number().int().min(1).max(200).default(50).describe("Rows per page."),
  cursor: boundedText(200).optional().describe("`next_cursor` of the page before."),
};

/** What a list answers beside its rows. */
export const pagination = z.object({
  limit: z.number().int(),
  next_cursor: z.string().nullable(),
  has_more: z.boolean(),
});
