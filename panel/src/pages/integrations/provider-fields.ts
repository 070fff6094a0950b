import type { Provider } from "./integrations-queries.ts";

/** How a field is edited and parsed. */
export type FieldKind =
  | "text"
  | "url"
  | "secret"
  | "number"
  | "long"
  /** A text that shows line breaks as `\n`. */
  | "escaped"
  | "switch"
  | "choice"
  /** One entry per line. */
  | "lines"
  /** `name = value` per line. */
  | "variables"
  | "events";

export type Config = Readonly<Record<string, unknown>>;

export interface FieldSpec {
  name: string;
  kind: FieldKind;
  group: "connection" | "behaviour" | "limits";
  /** The gateway's default. */
  first: unknown;
  isRequired?: boolean;
  options?: readonly string[];
  maxLength?: number;
  /** Shown only for such a configuration. */
  isShown?(config: Config): boolean;
}

const REPLY_LIMIT: readonly FieldSpec[] = [
  { name: "loop_protection", kind: "switch", group: "limits", first: true },
  {
    name: "max_replies_per_minute",
    kind: "number",
    group: "limits",
    first: 15,
    isShown: ({ loop_protection }) => loop_protection === true,
  },
];

const isKeyword = ({ trigger }: Config) => trigger === "keyword";

export const PROVIDER_FIELDS: Readonly<Record<Provider, readonly FieldSpec[]>> = {
  n8n: [
    { name: "webhook_url", kind: "url", group: "connection", first: "", isRequired: true },
    {
      name: "auth",
      kind: "choice",
      group: "connection",
      first: "none",
      options: ["none", "bearer", "header", "basic", "jwt"],
    },
    { name: "token", kind: "secret", group: "connection", first: "", isShown: ({ auth }) => auth !== "none" },
    {
      name: "header_name",
      kind: "text",
      group: "connection",
      first: "Authorization",
      maxLength: 100,
      isShown: ({ auth }) => auth === "header",
    },
    { name: "reply_mode", kind: "choice", group: "behaviour", first: "none", options: ["none", "response"] },
    { name: "events", kind: "events", group: "behaviour", first: ["message.received"] },
    { name: "include_from_me", kind: "switch", group: "behaviour", first: false },
    { name: "include_groups", kind: "switch", group: "behaviour", first: true },
    { name: "media", kind: "choice", group: "behaviour", first: "url", options: ["url", "base64", "none"] },
    { name: "timeout_ms", kind: "number", group: "limits", first: "" },
    { name: "retry", kind: "switch", group: "limits", first: true },
    ...REPLY_LIMIT,
  ],
  typebot: [
    { name: "base_url", kind: "url", group: "connection", first: "", isRequired: true },
    { name: "public_id", kind: "text", group: "connection", first: "", isRequired: true, maxLength: 200 },
    { name: "api_token", kind: "secret", group: "connection", first: "" },
    { name: "trigger", kind: "choice", group: "behaviour", first: "all", options: ["all", "keyword"] },
    {
      name: "trigger_operator",
      kind: "choice",
      group: "behaviour",
      first: "equals",
      options: ["equals", "contains", "startsWith", "regex"],
      isShown: isKeyword,
    },
    {
      name: "trigger_value",
      kind: "text",
      group: "behaviour",
      first: "",
      maxLength: 500,
      isShown: isKeyword,
    },
    { name: "stop_keywords", kind: "lines", group: "behaviour", first: [] },
    { name: "restart_keywords", kind: "lines", group: "behaviour", first: [] },
    { name: "goodbye_message", kind: "long", group: "behaviour", first: "" },
    {
      name: "unsupported_message",
      kind: "long",
      group: "behaviour",
      first: "Sorry, I can only read text here.",
    },
    { name: "ignore_groups", kind: "switch", group: "behaviour", first: true },
    { name: "ignore_jids", kind: "lines", group: "behaviour", first: [] },
    { name: "pause_on_human_minutes", kind: "number", group: "behaviour", first: 60 },
    { name: "typing_presence", kind: "switch", group: "behaviour", first: true },
    { name: "choices", kind: "choice", group: "behaviour", first: "text", options: ["text", "poll"] },
    { name: "variables", kind: "variables", group: "behaviour", first: {} },
    { name: "session_expiry_minutes", kind: "number", group: "limits", first: 240 },
    { name: "on_end", kind: "choice", group: "limits", first: "close", options: ["close", "keep_closed"] },
    {
      name: "keep_closed_for_minutes",
      kind: "number",
      group: "limits",
      first: 60,
      isShown: ({ on_end }) => on_end === "keep_closed",
    },
    { name: "debounce_ms", kind: "number", group: "limits", first: 0 },
    { name: "min_delay_ms", kind: "number", group: "limits", first: 0 },
    { name: "max_delay_ms", kind: "number", group: "limits", first: 5000 },
    { name: "max_wait_seconds", kind: "number", group: "limits", first: 10 },
    ...REPLY_LIMIT,
  ],
  chatwoot: [
    { name: "url", kind: "url", group: "connection", first: "", isRequired: true },
    { name: "access_token", kind: "secret", group: "connection", first: "", isRequired: true },
    { name: "account_id", kind: "number", group: "connection", first: "", isRequired: true },
    { name: "auto_create", kind: "switch", group: "connection", first: false },
    {
      name: "inbox_id",
      kind: "number",
      group: "connection",
      first: "",
      isShown: ({ auto_create }) => auto_create !== true,
    },
    {
      name: "inbox_name",
      kind: "text",
      group: "connection",
      first: "WhatsApp",
      maxLength: 100,
      isShown: ({ auto_create }) => auto_create === true,
    },
    { name: "force", kind: "switch", group: "connection", first: false },
    {
      name: "sent_from_phone",
      kind: "choice",
      group: "behaviour",
      first: "message",
      options: ["message", "private_note", "off"],
    },
    { name: "reopen_conversation", kind: "switch", group: "behaviour", first: true },
    {
      name: "conversation_status",
      kind: "choice",
      group: "behaviour",
      first: "open",
      options: ["open", "pending"],
    },
    { name: "sign_messages", kind: "switch", group: "behaviour", first: false },
    {
      name: "signature_delimiter",
      kind: "escaped",
      group: "behaviour",
      first: "\n",
      maxLength: 40,
      isShown: ({ sign_messages }) => sign_messages === true,
    },
    { name: "sync_status", kind: "switch", group: "behaviour", first: true },
    { name: "mark_read", kind: "switch", group: "behaviour", first: false },
    { name: "typing", kind: "switch", group: "behaviour", first: false },
    { name: "groups", kind: "switch", group: "behaviour", first: false },
    { name: "ignore_jids", kind: "lines", group: "behaviour", first: [] },
    { name: "keep_deleted", kind: "switch", group: "limits", first: false },
    { name: "merge_brazil_contacts", kind: "switch", group: "limits", first: false },
    { name: "all_audio_as_voice", kind: "switch", group: "limits", first: false },
    { name: "files_from_url", kind: "switch", group: "limits", first: false },
  ],
};

const CHOSEN: readonly FieldKind[] = ["switch", "choice", "events"];

/** Whether the user chooses the value instead of typing it. */
export function isChosen({ kind }: FieldSpec): boolean {
  return CHOSEN.includes(kind);
}

/** The saved configuration, completed with defaults. */
export function toConfig(provider: Provider, saved: Config | undefined): Config {
  const first = PROVIDER_FIELDS[provider].map(({ name, first: value }) => [name, value]);
  const hasToken = saved?.token !== undefined && saved.auth === undefined;
  return { ...Object.fromEntries(first), ...(hasToken && { auth: "bearer" }), ...saved };
}

/** The value as text of its input. */
export function toText({ kind }: FieldSpec, value: unknown): string {
  if (kind === "lines") return (value as readonly string[]).join("\n");
  if (kind === "escaped") return String(value).replaceAll("\n", "\\n");
  if (kind !== "variables") return value === undefined ? "" : String(value);
  return Object.entries(value as Config)
    .map(([name, one]) => `${name} = ${String(one)}`)
    .join("\n");
}

/** Reads a form: controlled values, and the inputs that were shown. */
export function readConfig(
  provider: Provider,
  chosen: Config,
  texts: Partial<Record<string, string>>,
): Record<string, unknown> {
  const values = PROVIDER_FIELDS[provider].map((field): [string, unknown] => {
    const text = texts[field.name];
    const value = isChosen(field) || text === undefined ? chosen[field.name] : toValue(field, text);
    return [field.name, value === "" && field.kind !== "long" ? undefined : value];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function toValue({ kind }: FieldSpec, text: string): unknown {
  if (kind === "escaped") return text.replaceAll("\\n", "\n");
  if (kind === "long") return text;
  const trimmed = text.trim();
  // The gateway reports an invalid number at its field.
  if (kind === "number") return trimmed === "" || Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed);
  const lines = text.split("\n").map((line) => line.trim());
  const used = lines.filter((line) => line !== "");
  if (kind === "lines") return used;
  if (kind !== "variables") return trimmed;
  return Object.fromEntries(
    used.map((line) => {
      const at = line.indexOf("=");
      return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
