import { createHmac } from "node:crypto";
import { z } from "zod";
import type { FetchOutcome, OutgoingRequest, SafeFetch } from "../../../../platform/outgoing/safe-fetch.ts";
import type { Integration } from "../../integration-row.ts";
import { chatwootConfigOf, chatwootStateOf } from "../chatwoot-config.ts";
import {
  type ChatwootError,
  chatwootErrorOf,
  unexpectedResponse,
  unreadableResponse,
} from "./chatwoot-error.ts";
import { escapeLiquid } from "./escape-liquid.ts";
import { createMultipartForm, type FormFile } from "./multipart-form.ts";

/** The result of a request; a rejection is a value. */
export type ChatwootResult<T> = { ok: true; value: T } | { ok: false; error: ChatwootError };

const CALL_MS = 15_000;
const UPLOAD_MS = 120_000;
const RESPONSE_BYTES = 8 * 1024 * 1024;

const id = z.coerce.number().int();
const version = z.object({ version: z.string() });
const profile = z.object({
  accounts: z.array(z.object({ id, role: z.string().nullish(), status: z.string().nullish() })),
});
const inbox = z.object({
  id,
  name: z.string(),
  channel_type: z.string(),
  webhook_url: z.string().nullish(),
  inbox_identifier: z.string().nullish(),
  lock_to_single_conversation: z.boolean().nullish(),
  hmac_token: z.string().nullish(),
  secret: z.string().nullish(),
});
const contact = z.object({
  id,
  name: z.string().nullish(),
  phone_number: z.string().nullish(),
  identifier: z.string().nullish(),
});
const conversation = z.object({ id, inbox_id: id.nullish(), status: z.string() });
const message = z.object({
  id,
  source_id: z.string().nullish(),
  created_at: z.number(),
  content_attributes: z.record(z.string(), z.unknown()).nullish(),
});

export type ChatwootInbox = z.output<typeof inbox>;
export type ChatwootContact = z.output<typeof contact>;
export type ChatwootMessage = z.output<typeof message>;
export type ChatwootConversation = z.output<typeof conversation>;

/** A message as the gateway posts it. */
export interface NewChatwootMessage {
  content: string;
  message_type: "incoming" | "outgoing";
  source_id: string;
  private?: boolean;
  content_attributes?: Record<string, unknown>;
  is_voice_message?: boolean;
}

/** The known data of a contact. */
export interface NewChatwootContact {
  source_id: string;
  identifier: string;
  name: string;
  phone_number?: string;
  avatar_url?: string;
}

/** A condition in a search for contacts. */
export interface ContactFilter {
  attribute_key: "phone_number" | "identifier";
  value: string;
}

/** The URL, and the credentials. */
export interface ChatwootAccess {
  url: string;
  access_token: string;
  account_id: number;
  inbox_id: number;
  inbox_identifier: string;
  /** Signs the identifiers of contacts; an inbox accepts a signature even if it requires none. */
  hmac_token: string | undefined;
}

export function chatwootAccessOf(integration: Integration): ChatwootAccess {
  const { url, access_token, account_id, inbox_id } = chatwootConfigOf(integration);
  const { inbox_identifier } = chatwootStateOf(integration);
  const { hmac_token } = integration.secrets;
  return { url, access_token, account_id, inbox_id, inbox_identifier, hmac_token };
}

interface ChatwootRequest<T> {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  body?: unknown;
  form?: { fields: Record<string, string>; file: FormFile };
  schema: z.ZodType<T>;
}

const nothing = z.unknown();

/** The connection to Chatwoot. */
export interface ChatwootTransport {
  outgoing: SafeFetch;
  instance_id: number;
  /** Called with the result of each request. */
  onResponse?: (outcome: FetchOutcome, beganAt: number, refusal: ChatwootError | undefined) => Promise<void>;
}

/** The requests of Chatwoot's API that the gateway needs. */
export function createChatwootApi(transport: ChatwootTransport, access: ChatwootAccess) {
  const execute = <T>(made: ChatwootRequest<T>) => carryOut(transport, access, made);
  return {
    ...inboxRequests(access, execute),
    ...contactRequests(access, execute),
    ...conversationRequests(access, execute),
  };
}

export type ChatwootApi = ReturnType<typeof createChatwootApi>;

type ExecuteRequest = <T>(made: ChatwootRequest<T>) => Promise<ChatwootResult<T>>;

function inboxRequests({ account_id, inbox_id }: ChatwootAccess, execute: ExecuteRequest) {
  const inboxes = `/api/v1/accounts/${account_id}/inboxes`;
  return {
    version: () => execute({ method: "GET", path: "/api", schema: version }),
    profile: () => execute({ method: "GET", path: "/api/v1/profile", schema: profile }),
    inbox: () => execute({ method: "GET", path: `${inboxes}/${inbox_id}`, schema: inbox }),
    createInbox: (body: { name: string; webhook_url: string; lock_to_single_conversation: boolean }) => {
      const { webhook_url, ...fields } = body;
      const channel = { type: "api", webhook_url };
      return execute({ method: "POST", path: inboxes, body: { ...fields, channel }, schema: inbox });
    },
    updateInbox: (body: { channel?: { webhook_url: string }; lock_to_single_conversation?: boolean }) =>
      execute({ method: "PATCH", path: `${inboxes}/${inbox_id}`, body, schema: inbox }),
  };
}

function contactRequests(
  { account_id, inbox_id, inbox_identifier, hmac_token }: ChatwootAccess,
  execute: ExecuteRequest,
) {
  const contacts = `/api/v1/accounts/${account_id}/contacts`;
  const sign = (identifier: string) =>
    hmac_token && { identifier_hash: createHmac("sha256", hmac_token).update(identifier).digest("hex") };
  return {
    /** Safe to repeat: finds by source id, then identifier, then phone, else creates a contact. */
    upsertContact: (fields: NewChatwootContact) =>
      execute({
        method: "POST",
        path: `/public/api/v1/inboxes/${inbox_identifier}/contacts`,
        body: { ...fields, ...sign(fields.identifier) },
        schema: contact,
      }),
    /** The contacts that match one of the clauses. */
    findContacts: (clauses: readonly ContactFilter[]) =>
      execute({
        method: "POST",
        path: `${contacts}/filter`,
        body: { payload: toFilter(clauses) },
        schema: z.object({ payload: z.array(contact) }),
      }),
    addToInbox: (contactId: number, source_id: string) =>
      execute({
        method: "POST",
        path: `${contacts}/${contactId}/contact_inboxes`,
        body: { inbox_id, source_id },
        schema: nothing,
      }),
    contact: (contactId: number) =>
      execute({
        method: "GET",
        path: `${contacts}/${contactId}`,
        schema: z.object({ payload: contact }),
      }),
    updateContact: (contactId: number, body: { name?: string; phone_number?: string; identifier?: string }) =>
      execute({ method: "PATCH", path: `${contacts}/${contactId}`, body, schema: nothing }),
    mergeContacts: (base_contact_id: number, mergee_contact_id: number) =>
      execute({
        method: "POST",
        path: `/api/v1/accounts/${account_id}/actions/contact_merge`,
        body: { base_contact_id, mergee_contact_id },
        schema: nothing,
      }),
    conversationsOf: (contactId: number) =>
      execute({
        method: "GET",
        path: `${contacts}/${contactId}/conversations`,
        schema: z.object({ payload: z.array(conversation) }),
      }),
  };
}

/** Chatwoot reads one value per clause, and requires a last clause without an operator. */
function toFilter(clauses: readonly ContactFilter[]) {
  return clauses.map(({ attribute_key, value }, at) => ({
    attribute_key,
    filter_operator: "equal_to",
    values: [value],
    query_operator: at < clauses.length - 1 ? "OR" : null,
  }));
}

function conversationRequests({ account_id, inbox_id }: ChatwootAccess, execute: ExecuteRequest) {
  const conversations = `/api/v1/accounts/${account_id}/conversations`;
  const messages = (conversationId: number) => `${conversations}/${conversationId}/messages`;
  return {
    createConversation: (contact_id: number, source_id: string, status: string) =>
      execute({
        method: "POST",
        path: conversations,
        body: { inbox_id, contact_id, source_id, status },
        schema: conversation,
      }),
    postMessage: (conversationId: number, post: NewChatwootMessage, file?: FormFile) =>
      execute({
        method: "POST",
        path: messages(conversationId),
        ...(file ? { form: { fields: toFields(literal(post)), file } } : { body: literal(post) }),
        schema: message,
      }),
    listMessages: (conversationId: number, before?: number) =>
      execute({
        method: "GET",
        path: `${messages(conversationId)}${before === undefined ? "" : `?before=${before}`}`,
        schema: z.object({ payload: z.array(message) }),
      }),
    setStatus: (
      conversationId: number,
      messageId: string,
      body: { status: "delivered" | "read" | "failed"; external_error?: string },
    ) =>
      execute({ method: "PATCH", path: `${messages(conversationId)}/${messageId}`, body, schema: nothing }),
    deleteMessage: (conversationId: number, messageId: string) =>
      execute({ method: "DELETE", path: `${messages(conversationId)}/${messageId}`, schema: nothing }),
  };
}

/** Chatwoot does not render incoming messages. */
function literal(post: NewChatwootMessage): NewChatwootMessage {
  return post.message_type === "outgoing" ? { ...post, content: escapeLiquid(post.content) } : post;
}

/** A form has only text fields, so attributes go as JSON. */
function toFields({ content_attributes, content, ...post }: NewChatwootMessage): Record<string, string> {
  const texts = Object.entries(post).map(([name, value]) => [name, String(value)]);
  return {
    ...Object.fromEntries(texts),
    ...(content !== "" && { content }),
    ...(content_attributes && { content_attributes: JSON.stringify(content_attributes) }),
  };
}

async function carryOut<T>(
  transport: ChatwootTransport,
  access: ChatwootAccess,
  made: ChatwootRequest<T>,
): Promise<ChatwootResult<T>> {
  const beganAt = performance.now();
  const tenant = { instance_id: transport.instance_id };
  const outcome = await transport.outgoing.fetch({ ...(await toRequest(access, made)), tenant });
  const error = chatwootErrorOf(outcome) ?? (isUnreadable(outcome) ? unreadableResponse(outcome) : undefined);
  await transport.onResponse?.(outcome, beganAt, error);
  if (error) return { ok: false, error };
  const parsed = made.schema.safeParse(readBody(outcome));
  return parsed.success
    ? { ok: true, value: parsed.data }
    : { ok: false, error: unexpectedResponse(outcome) };
}

async function toRequest<T>(
  access: ChatwootAccess,
  { method, path, body, form }: ChatwootRequest<T>,
): Promise<OutgoingRequest> {
  const written = form && (await createMultipartForm(form.fields, "attachments[]", form.file));
  const isPublic = path === "/api" || path.startsWith("/public/");
  return {
    url: `${access.url}${path}`,
    method,
    headers: {
      accept: "application/json",
      ...(!isPublic && { api_access_token: access.access_token }),
      ...(written?.headers ?? (body !== undefined && { "content-type": "application/json" })),
    },
    ...(written ? { body: written.body } : body !== undefined && { body: JSON.stringify(body) }),
    totalMs: form ? UPLOAD_MS : CALL_MS,
    maxBytes: RESPONSE_BYTES,
    // The lane's width limits the requests.
    isPaced: true,
  };
}

/** A response that exceeds the size limit would exceed it again. */
function isUnreadable(outcome: FetchOutcome): boolean {
  if (outcome.outcome === "failed" || outcome.body.length >= RESPONSE_BYTES) return false;
  return outcome.truncated || readBody(outcome) === undefined;
}

function readBody(outcome: FetchOutcome): unknown {
  if (outcome.outcome === "failed" || outcome.body.length === 0) return {};
  try {
    return JSON.parse(outcome.body.toString("utf8"));
  } catch {
    return undefined;
  }
}
