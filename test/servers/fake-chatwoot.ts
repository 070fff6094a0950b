import { createHmac, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { readMultipart } from "../../src/platform/http/body/read-multipart.ts";
import { renderLiquid } from "./liquid.ts";
import { type LocalServer, startLocalServer } from "./local-server.ts";

type Fields = Record<string, unknown>;
type MessageType = "incoming" | "outgoing" | "activity" | "template";
const MESSAGE_TYPES: readonly MessageType[] = ["incoming", "outgoing", "activity", "template"];
const REFUSED = { 401: "Invalid Access Token", 403: "Forbidden" };
/** Rails' response to an unrescued exception for JSON clients. */
const UNRESCUED: ChatwootResponse = { status: 500, body: { status: 500, error: "Internal Server Error" } };
/** `app/models/message.rb`, validation of `content`. */
const LONGEST_CONTENT = 150_000;
/** `app/controllers/api/v1/accounts/contacts_controller.rb`, RESULTS_PER_PAGE. */
const CONTACTS_PER_PAGE = 15;
/** `app/actions/contact_merge_action.rb`, merge_and_remove_mergee_contact. */
const MERGED = [
  "identifier",
  "name",
  "email",
  "phone_number",
  "additional_attributes",
  "custom_attributes",
] as const;

interface Clause {
  attribute_key: "phone_number" | "identifier" | "name" | "email";
  values: string[];
  query_operator?: string | null;
}

export interface FakeContact {
  id: number;
  name: string;
  identifier: string | null;
  email?: string | null;
  phone_number: string | null;
  avatar_url?: string | null;
  additional_attributes?: Fields;
  custom_attributes: Fields;
}

interface ContactInbox {
  contact_id: number;
  inbox_id: number;
  source_id: string;
}

export interface FakeConversation {
  /** Display id, which paths use. */
  id: number;
  inbox_id: number;
  contact_id: number;
  source_id: string;
  status: "open" | "pending" | "resolved" | "snoozed";
}

export interface FakeAttachment {
  id: number;
  file_type: string;
  content_type: string;
  file_name: string;
  bytes: Buffer;
  /** Number of 404 responses before the file exists. */
  missing: number;
}

export interface FakeMessage {
  id: number;
  conversation_id: number;
  message_type: MessageType;
  content: string | null;
  content_type: string;
  content_attributes: Fields;
  private: boolean;
  source_id: string | null;
  status: "sent" | "delivered" | "read" | "failed";
  attachments: FakeAttachment[];
  is_voice_message: boolean;
  sender: { id: number; name: string; type: "user" } | { id: number; name: string } | null;
  created_at: Date;
}

interface FakeInbox {
  id: number;
  name: string;
  channel_type: string;
  inbox_identifier: string;
  webhook_url: string | null;
  secret: string | null;
  hmac_mandatory: boolean;
  hmac_token: string;
  lock_to_single_conversation: boolean;
}

/** Simulated faults. */
export interface ChatwootFaults {
  /** Status for every request of the account; null: normal responses. */
  status: 401 | 403 | 404 | 429 | 500 | null;
  /** Closes each connection without a response and without effect. */
  hangsUp: boolean;
  /** Message creations that succeed but lose their response. */
  loseResponses: number;
  /** Message creations that succeed with a truncated response. */
  truncateResponses: number;
  /** Calls that return 200 with a proxy's HTML page, without effect. */
  pages: number;
  /** Like nginx, which drops `api_access_token` because of its underscores. */
  dropTokenHeader: boolean;
  /** 404 responses for agents' attachments. */
  missingFiles: number;
  /** Sends no webhooks until `release` or `reorder`. */
  holdWebhooks: boolean;
  /** Delays the response of a message creation until its webhook is delivered. */
  webhookFirst: boolean;
  /** Contacts refused because another one with the phone was created at the same time. */
  takenPhones: number;
  /** A proxy in front of Chatwoot refuses larger files. */
  largestFile: number;
  /** Foreign base URL of files. */
  frontend: string | null;
  /** As in older versions: webhooks name only a file's kind, and the storage returns no type. */
  untypedFiles: boolean;
}

const SOUND: ChatwootFaults = {
  status: null,
  hangsUp: false,
  loseResponses: 0,
  truncateResponses: 0,
  pages: 0,
  dropTokenHeader: false,
  missingFiles: 0,
  holdWebhooks: false,
  webhookFirst: false,
  takenPhones: 0,
  largestFile: Number.POSITIVE_INFINITY,
  frontend: null,
  untypedFiles: false,
};

interface Queued {
  event: Fields;
  message: FakeMessage | null;
}

interface ChatwootResponse {
  status: number;
  body?: unknown;
  text?: string;
  location?: string;
  bytes?: Buffer;
  type?: string;
}

interface Request {
  method: string;
  path: string;
  query: URLSearchParams;
  fields: Fields;
  files: { name: string; type: string; bytes: Buffer }[];
  /** Role of the token's user. */
  role: "administrator" | "agent" | null;
}

export interface FakeAgentMessage {
  content?: string;
  private?: boolean;
  content_type?: string;
  content_attributes?: Fields;
  template?: boolean;
  attachments?: { bytes: Buffer; type: string; file_name: string }[];
}

/**
 * A Chatwoot with one account, with the API channel and webhooks that the gateway uses. Written from the source of
 * Chatwoot 4.16.2: each behaviour names the file and method that it follows. `test/golden/chatwoot` contains
 * responses of that source, which `test/servers/fake-chatwoot.test.ts` compares.
 */
export class FakeChatwoot {
  readonly account_id = 2;
  readonly token = "agent-token-1";
  readonly inbox: FakeInbox;
  /** An inbox of another kind, such as a website's. */
  readonly widget: FakeInbox;
  version = "4.16.2";
  role: "administrator" | "agent" = "administrator";
  faults: ChatwootFaults = { ...SOUND };
  contacts: FakeContact[] = [];
  contactInboxes: ContactInbox[] = [];
  conversations: FakeConversation[] = [];
  messages: FakeMessage[] = [];
  /** All calls in order: `POST /api/v1/...`. */
  readonly calls: string[] = [];
  /** Bodies of sent webhooks with the returned status. */
  readonly hooks: { event: Fields; status: number }[] = [];
  /** Maximum random delay of a webhook. */
  jitterMs = 5;
  messagesPerMinute = 200;
  readonly #held: Queued[] = [];
  readonly #sending = new Set<Promise<void>>();
  #server: LocalServer | undefined;
  #ids: number;

  /** Ids start after it. */
  constructor(lastId = 100) {
    this.#ids = lastId;
    this.inbox = this.#newInbox(7, "WhatsApp", "Channel::Api");
    this.widget = this.#newInbox(8, "Website", "Channel::WebWidget");
  }

  get url(): string {
    if (!this.#server) throw new Error("Chatwoot has not been started.");
    return this.#server.url;
  }

  async start(): Promise<this> {
    this.#server = await startLocalServer((request, response) => {
      void this.#serve(request, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500).end(String(error));
      });
    });
    return this;
  }

  async stop(): Promise<void> {
    await this.settled();
    await this.#server?.shut();
  }

  /** Restores the initial state. */
  reset(): void {
    this.faults = { ...SOUND };
    Object.assign(this, { contacts: [], contactInboxes: [], conversations: [], messages: [] });
    Object.assign(this, { version: "4.16.2", role: "administrator" });
    this.calls.length = 0;
    this.hooks.length = 0;
    this.#held.length = 0;
    this.inbox.webhook_url = "";
    this.inbox.hmac_mandatory = false;
    this.inbox.lock_to_single_conversation = false;
  }

  /** Resolves when no webhook is in progress. */
  async settled(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending);
  }

  of(conversation_id: number): FakeMessage[] {
    return this.messages.filter((message) => message.conversation_id === conversation_id);
  }

  /**
   * An agent replies in a conversation. `app/builders/messages/message_builder.rb`; the kind of a file is from
   * `app/helpers/file_type_helper.rb`.
   */
  write(conversation_id: number, said: FakeAgentMessage | string): FakeMessage {
    const { attachments = [], template, ...fields } = typeof said === "string" ? { content: said } : said;
    const message = this.#addMessage({
      conversation_id,
      message_type: template ? "template" : "outgoing",
      content: null,
      content_type: "text",
      content_attributes: {},
      private: false,
      source_id: null,
      status: "sent",
      attachments: attachments.map(({ bytes, type, file_name }) => ({
        id: this.#nextId(),
        file_type: type.startsWith("image/")
          ? "image"
          : type.startsWith("audio/")
            ? "audio"
            : type.startsWith("video/")
              ? "video"
              : "file",
        content_type: type,
        file_name,
        bytes,
        missing: this.faults.missingFiles,
      })),
      is_voice_message: false,
      sender: template ? null : { id: 1, name: "Ana", type: "user" },
      ...fields,
    });
    return message;
  }

  /**
   * An agent records a voice message. For API inboxes the composer makes an MP3 named by a UUID, and the webhook does
   * not mark it as a recording. `ReplyBox.vue` audioRecordFormat, `AudioRecorder.vue` record-end,
   * `app/models/attachment.rb` push_event_data.
   */
  record(conversation_id: number, bytes: Buffer, extension: "mp3" | "wav" = "mp3"): FakeMessage {
    const type = extension === "mp3" ? "audio/mpeg" : "audio/wav";
    return this.write(conversation_id, {
      attachments: [{ bytes, type, file_name: `${randomUUID()}.${extension}` }],
    });
  }

  /** An agent starts a conversation in the panel, with a generated `source_id`. */
  startConversation(contact: Omit<FakeContact, "id" | "custom_attributes">): FakeConversation {
    const added = { id: this.#nextId(), custom_attributes: {}, ...contact };
    this.contacts.push(added);
    const inbox = { contact_id: added.id, inbox_id: this.inbox.id, source_id: randomUUID() };
    this.contactInboxes.push(inbox);
    return this.#addConversation({ ...inbox, status: "open" });
  }

  /** An agent deletes a message. `app/controllers/api/v1/accounts/conversations/messages_controller.rb` destroy. */
  remove(message: FakeMessage): void {
    message.content = "This message was deleted";
    message.content_attributes = { deleted: true };
    message.attachments = [];
    this.#queueMessageWebhook("message_updated", message);
  }

  /** An agent presses Retry at a failed message. `messages_controller.rb` retry. */
  retry(message: FakeMessage): void {
    message.status = "sent";
    message.content_attributes = {};
    this.#queueMessageWebhook("message_updated", message);
  }

  /** `app/controllers/api/v1/accounts/conversations_controller.rb` toggle_status, by an agent. */
  resolve(conversation: FakeConversation): void {
    conversation.status = "resolved";
    this.#queueWebhook(
      { event: "conversation_status_changed", ...this.#conversationData(conversation) },
      null,
    );
  }

  /** `app/listeners/webhook_listener.rb` conversation_typing_on and _off. */
  type(conversation: FakeConversation, event: "conversation_typing_on" | "conversation_typing_off"): void {
    const user = { id: 1, name: "Ana", type: "user" };
    this.#queueWebhook(
      { event, user, conversation: this.#conversationData(conversation), is_private: false },
      null,
    );
  }

  /** Sends the held webhooks, in this order of their indexes. */
  async release(order?: (held: number[]) => number[]): Promise<void> {
    const held = this.#held.splice(0);
    const places = order ? order(held.map((_, place) => place)) : held.map((_, place) => place);
    this.faults.holdWebhooks = false;
    for (const place of places) {
      const queued = held[place];
      if (queued) await this.#deliver(queued);
    }
  }

  /** Sends the webhook of a message again, as a repeated job does. */
  async repeat(message: FakeMessage, event = "message_created"): Promise<void> {
    await this.#deliver({ event: this.#messageData(event, message), message });
  }

  #newInbox(id: number, name: string, channel_type: string): FakeInbox {
    return {
      id,
      name,
      channel_type,
      inbox_identifier: `inbox-identifier-${id}`,
      webhook_url: channel_type === "Channel::Api" ? "" : null,
      secret: `inbox-secret-${id}`,
      hmac_mandatory: false,
      hmac_token: "hmac-token",
      lock_to_single_conversation: false,
    };
  }

  #nextId(): number {
    this.#ids += 1;
    return this.#ids;
  }

  // --- HTTP ---------------------------------------------------------------------------------------------------------

  async #serve(raw: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.faults.hangsUp) return void raw.destroy();
    const request = await this.#read(raw);
    this.calls.push(`${request.method} ${request.path}`);
    const result = this.#takePage() ?? this.#respond(request);
    const created = request.method === "POST" && request.path.endsWith("/messages") && result.status === 200;
    if (created && this.faults.webhookFirst) await this.settled();
    if (created && this.#losesResponse(result, response)) return;
    const { status, body, text, location, bytes, type } = result;
    const plain = text ?? bytes;
    response
      .writeHead(status, {
        "content-type": type ?? (plain === undefined ? "application/json" : "text/plain"),
        ...(location && { location }),
      })
      .end(plain ?? JSON.stringify(body ?? {}));
  }

  #takePage(): ChatwootResponse | undefined {
    if (this.faults.pages === 0) return undefined;
    this.faults.pages -= 1;
    return { status: 200, text: "<html>Back in a minute</html>", type: "text/html" };
  }

  /** Drops the response, or everything after its start. */
  #losesResponse({ body }: ChatwootResponse, response: ServerResponse): boolean {
    if (this.faults.loseResponses > 0) {
      this.faults.loseResponses -= 1;
      response.destroy();
      return true;
    }
    if (this.faults.truncateResponses === 0) return false;
    this.faults.truncateResponses -= 1;
    response.writeHead(200, { "content-type": "application/json" });
    response.write(JSON.stringify(body).slice(0, 10), () => response.destroy());
    return true;
  }

  async #read(raw: IncomingMessage): Promise<Request> {
    const { pathname, searchParams } = new URL(raw.url ?? "/", "http://chatwoot");
    const type = raw.headers["content-type"] ?? "";
    const { fields, files } = type.startsWith("multipart/form-data")
      ? await readForm(raw, type)
      : { fields: await readJson(raw), files: [] };
    const token = this.faults.dropTokenHeader ? undefined : raw.headers.api_access_token;
    const role = token === this.token ? this.role : null;
    return { method: raw.method ?? "GET", path: pathname, query: searchParams, fields, files, role };
  }

  /**
   * `app/controllers/api_controller.rb`; the token is from `app/controllers/concerns/access_token_auth_helper.rb`,
   * and the plain-text 429 without `Retry-After` from `config/initializers/rack_attack.rb`.
   */
  #respond(request: Request): ChatwootResponse {
    const { method, path } = request;
    if (path === "/api") {
      return ok({
        version: this.version,
        timestamp: "2026-11-20",
        queue_services: "ok",
        data_services: "ok",
      });
    }
    if (path.startsWith("/files/")) return this.#file(path);
    if (this.faults.status === 429) return { status: 429, text: "Retry later\n" };
    if (this.faults.status === 404) return { status: 404, body: { error: "Resource could not be found" } };
    if (this.faults.status) {
      const { status } = this.faults;
      return status === 500 ? UNRESCUED : { status, body: { error: REFUSED[status] } };
    }
    if (path.startsWith("/public/")) return this.#publicCall(request);
    if (!request.role) return { status: 401, body: { error: "Invalid Access Token" } };
    if (path === "/api/v1/profile") return ok(this.#profile());
    const [, account, rest = ""] = /^\/api\/v1\/accounts\/(\d+)(\/.*)$/.exec(path) ?? [];
    if (Number(account) !== this.account_id) return notFound();
    return this.#accountCall(method, rest, request);
  }

  /** `app/views/api/v1/models/_user.json.jbuilder`. */
  #profile() {
    const accounts = [{ id: this.account_id, name: "Shop", role: this.role, status: "active" }];
    return { id: 1, name: "Ana", email: "ana@example.com", accounts };
  }

  #accountCall(method: string, path: string, request: Request): ChatwootResponse {
    const [, collection = "", id = "", action = "", last = ""] =
      /^\/(\w+)(?:\/(\w+))?(?:\/(\w+))?(?:\/(\w+))?$/.exec(path) ?? [];
    const number = Number(id);
    switch (
      `${method} ${collection}${id ? "/:id" : ""}${action ? `/${action}` : ""}${last ? "/:last" : ""}`
    ) {
      case "POST inboxes":
        return this.#createInbox(request);
      case "GET inboxes/:id":
        return this.#showInbox(number, request);
      case "PATCH inboxes/:id":
        return this.#updateInbox(number, request);
      case "POST contacts/:id":
        return id === "filter" ? this.#filterContacts(request) : notFound();
      case "POST contacts":
        return this.#createContact(request.fields);
      case "PUT contacts/:id":
      case "PATCH contacts/:id":
        return this.#updateContact(number, request.fields);
      case "GET contacts/:id":
        return this.#showContact(number);
      case "POST contacts/:id/contact_inboxes":
        return this.#addContactInbox(number, request.fields);
      case "GET contacts/:id/conversations":
        return this.#conversationsOf(number);
      case "POST actions/:id":
        return id === "contact_merge" ? this.#merge(request.fields) : notFound();
      case "POST conversations":
        return this.#createConversation(request.fields);
      case "POST conversations/:id/toggle_status":
        return this.#toggleStatus(number, request.fields);
      case "GET conversations/:id/messages":
        return this.#listMessages(number, request.query);
      case "POST conversations/:id/messages":
        return this.#createMessage(number, request);
      case "PATCH conversations/:id/messages/:last":
        // A missing route returns an HTML page.
        if (!this.#isAtLeast(4, 2)) return { status: 404, text: "<html>404</html>" };
        return this.#updateMessage(Number(last), request.fields);
      case "DELETE conversations/:id/messages/:last":
        return this.#deleteMessage(Number(last));
      default:
        return notFound();
    }
  }

  // --- inboxes ------------------------------------------------------------------------------------------------------

  /** `app/views/api/v1/models/_inbox.json.jbuilder`: secrets at the top level, for administrators only. */
  #showInbox(id: number, { role }: Request): ChatwootResponse {
    const inbox = [this.inbox, this.widget].find((one) => one.id === id);
    if (!inbox) return notFound();
    const { secret, hmac_token, ...open } = inbox;
    const isSigning = this.#signs();
    return ok({
      ...open,
      ...(role === "administrator" && { hmac_token, secret: isSigning ? secret : null }),
    });
  }

  /** `app/controllers/api/v1/accounts/inboxes_controller.rb` create; inboxes are unlocked by default. */
  #createInbox({ role, fields }: Request): ChatwootResponse {
    if (role !== "administrator") return notAuthorised();
    const channel = fields.channel as Fields;
    this.inbox.name = String(fields.name);
    this.inbox.webhook_url = String(channel.webhook_url ?? "");
    this.inbox.lock_to_single_conversation = fields.lock_to_single_conversation === true;
    return ok({ ...this.inbox });
  }

  /** `inboxes_controller.rb` update: inbox fields at the top level, EDITABLE_ATTRS of `Channel::Api` in `channel`. */
  #updateInbox(id: number, request: Request): ChatwootResponse {
    if (request.role !== "administrator") return notAuthorised();
    const { fields } = request;
    const channel = (fields.channel ?? {}) as Fields;
    if (id !== this.inbox.id) return notFound();
    if ("webhook_url" in channel) this.inbox.webhook_url = String(channel.webhook_url);
    if ("hmac_mandatory" in channel) this.inbox.hmac_mandatory = channel.hmac_mandatory === true;
    if ("lock_to_single_conversation" in fields)
      this.inbox.lock_to_single_conversation = fields.lock_to_single_conversation === true;
    return this.#showInbox(id, request);
  }

  #signs(): boolean {
    return this.#isAtLeast(4, 13);
  }

  #isAtLeast(first: number, second: number): boolean {
    const [major = 0, minor = 0] = this.version.split(".").map(Number);
    return major > first || (major === first && minor >= second);
  }

  // --- contacts -----------------------------------------------------------------------------------------------------

  /** `app/controllers/public/api/v1/inboxes/contacts_controller.rb`. */
  #publicCall({ method, path, fields }: Request): ChatwootResponse {
    const prefix = `/public/api/v1/inboxes/${this.inbox.inbox_identifier}/contacts`;
    return method === "POST" && path === prefix ? this.#upsertContact(fields) : notFound();
  }

  /**
   * `app/controllers/public/api/v1/inboxes/contacts_controller.rb` create, after process_hmac: a wrong signature, or
   * a missing one if it is mandatory, raises an unrescued StandardError.
   */
  #upsertContact(fields: Fields): ChatwootResponse {
    if (this.faults.takenPhones > 0) {
      this.faults.takenPhones -= 1;
      return taken("phone_number");
    }
    const identifier = text(fields.identifier);
    const hash = text(fields.identifier_hash);
    const right = createHmac("sha256", this.inbox.hmac_token)
      .update(identifier ?? "")
      .digest("hex");
    if ((hash !== null || this.inbox.hmac_mandatory) && hash !== right) return UNRESCUED;
    const source_id = text(fields.source_id) ?? randomUUID();
    const known = this.#contactInbox(source_id);
    const contact = known
      ? this.contacts.find(({ id }) => id === known.contact_id)
      : (this.#findContact(fields) ?? this.#newContact(fields));
    if (!contact) return notFound();
    if (!known) this.contactInboxes.push({ contact_id: contact.id, inbox_id: this.inbox.id, source_id });
    const { id, name, email = null, phone_number } = contact;
    return ok({ source_id, pubsub_token: "pub", id, name, email, phone_number });
  }

  #contactInbox(source_id: string): ContactInbox | undefined {
    return this.contactInboxes.find((one) => one.source_id === source_id && one.inbox_id === this.inbox.id);
  }

  /** `app/builders/contact_inbox_with_contact_builder.rb` find_contact: by identifier, then e-mail, then phone. */
  #findContact(fields: Fields): FakeContact | undefined {
    for (const attribute of ["identifier", "email", "phone_number"] as const) {
      const value = text(fields[attribute]);
      const found = this.contacts.find((one) => value !== null && one[attribute] === value);
      if (found) return found;
    }
    return undefined;
  }

  #newContact(fields: Fields): FakeContact {
    const contact = {
      id: this.#nextId(),
      name: text(fields.name) ?? "",
      identifier: text(fields.identifier),
      email: text(fields.email),
      phone_number: text(fields.phone_number),
      avatar_url: text(fields.avatar_url),
      custom_attributes: (fields.custom_attributes ?? {}) as Fields,
    };
    this.contacts.push(contact);
    return contact;
  }

  #taken(fields: Fields, except?: number): ChatwootResponse | null {
    for (const attribute of ["phone_number", "identifier"] as const) {
      const value = text(fields[attribute]);
      const owner = this.contacts.find((one) => value !== null && one[attribute] === value);
      if (!owner || owner.id === except) continue;
      return taken(attribute);
    }
    return null;
  }

  /** `contacts_controller.rb` create, build_contact_inbox: only if an inbox is named. */
  #createContact(fields: Fields): ChatwootResponse {
    const taken = this.#taken(fields);
    if (taken) return taken;
    const contact = this.#newContact(fields);
    if (!fields.inbox_id) return ok({ payload: { contact, contact_inbox: null } });
    const source_id = text(fields.source_id) ?? randomUUID();
    const contact_inbox = { contact_id: contact.id, inbox_id: this.inbox.id, source_id };
    this.contactInboxes.push(contact_inbox);
    return ok({ payload: { contact, contact_inbox } });
  }

  /** `contacts_controller.rb` update: merges attributes and validates uniqueness each time. */
  #updateContact(id: number, fields: Fields): ChatwootResponse {
    const contact = this.contacts.find((one) => one.id === id);
    if (!contact) return notFound();
    const taken = this.#taken(fields, id);
    if (taken) return taken;
    for (const name of ["name", "identifier", "phone_number"] as const) {
      const value = text(fields[name]);
      if (value !== null) contact[name] = value;
    }
    Object.assign(contact.custom_attributes, fields.custom_attributes);
    return ok({ payload: contact });
  }

  /** `contacts_controller.rb` show. */
  #showContact(id: number): ChatwootResponse {
    const contact = this.contacts.find((one) => one.id === id);
    return contact ? ok({ payload: contact }) : notFound();
  }

  /**
   * `app/services/contacts/filter_service.rb` and `app/services/filter_service.rb` query_builder: uses the first
   * value of each clause and its operator to the next. A missing or surplus operator is invalid SQL.
   */
  #filterContacts({ fields }: Request): ChatwootResponse {
    const clauses = fields.payload as Clause[];
    const operators = clauses.map(({ query_operator }) => query_operator?.toUpperCase() ?? "");
    if (operators.some((one) => one !== "" && one !== "AND" && one !== "OR"))
      return { status: 422, body: { error: "Query operator must be either AND or OR" } };
    if (clauses.some(({ values }) => values.length === 0))
      return { status: 422, body: { error: "Invalid value. The values provided are invalid" } };
    if (operators.at(-1) !== "" || operators.slice(0, -1).includes("")) return UNRESCUED;
    const isWanted = (contact: FakeContact) =>
      // AND binds more tightly than OR, as in SQL.
      alternatives(clauses).some((group) => group.every((clause) => applies(clause, contact)));
    const found = this.contacts.filter((contact) => isResolved(contact) && isWanted(contact));
    const payload = found.slice(0, CONTACTS_PER_PAGE).map((contact) => ({
      ...contact,
      contact_inboxes: this.contactInboxes
        .filter((one) => one.contact_id === contact.id)
        .map(({ source_id, inbox_id }) => ({ source_id, inbox: { id: inbox_id } })),
    }));
    return ok({ meta: { count: found.length, current_page: "1" }, payload });
  }

  /**
   * `app/builders/contact_inbox_builder.rb` create_contact_inbox: idempotent; a source id of another contact raises
   * RecordNotUnique, which API inboxes do not rescue.
   */
  #addContactInbox(contact_id: number, fields: Fields): ChatwootResponse {
    const source_id = text(fields.source_id) ?? randomUUID();
    const known = this.#contactInbox(source_id);
    if (known && known.contact_id !== contact_id) return UNRESCUED;
    if (!known) this.contactInboxes.push({ contact_id, inbox_id: this.inbox.id, source_id });
    return ok({ source_id });
  }

  /** `app/actions/contact_merge_action.rb`: the base contact's values win, and the other contact is deleted. */
  #merge({ base_contact_id, mergee_contact_id }: Fields): ChatwootResponse {
    const base = this.contacts.find((one) => one.id === base_contact_id);
    const mergee = this.contacts.find((one) => one.id === mergee_contact_id);
    if (!base || !mergee) return notFound();
    if (base === mergee) return ok(base);
    for (const one of [...this.contactInboxes, ...this.conversations]) {
      if (one.contact_id === mergee.id) one.contact_id = base.id;
    }
    this.contacts = this.contacts.filter((one) => one !== mergee);
    for (const name of MERGED) {
      const [theirs, ours] = [mergee[name], base[name]];
      const both = isFields(theirs) && isFields(ours) ? { ...theirs, ...ours } : undefined;
      Object.assign(base, { [name]: both ?? (text(ours) === null ? theirs : ours) });
    }
    return ok(base);
  }

  // --- conversations ------------------------------------------------------------------------------------------------

  /** `app/controllers/api/v1/accounts/contacts/conversations_controller.rb` index: the newest first. */
  #conversationsOf(contact_id: number): ChatwootResponse {
    const payload = this.conversations
      .filter((one) => one.contact_id === contact_id)
      .sort((a, b) => b.id - a.id)
      .map((one) => ({ ...one, last_activity_at: one.id, meta: {} }));
    return ok({ payload });
  }

  /**
   * `app/controllers/api/v1/accounts/conversations_controller.rb` contact_inbox, then
   * `app/builders/conversation_builder.rb` look_up_exising_conversation: a locked inbox reuses the contact's last
   * conversation, whatever its status.
   */
  #createConversation(fields: Fields): ChatwootResponse {
    const source_id = text(fields.source_id) ?? "";
    const inbox = this.#contactInbox(source_id);
    if (!inbox) return notFound();
    if (inbox.contact_id !== Number(fields.contact_id)) {
      return { status: 422, body: { error: "source_id should be unique" } };
    }
    const last = this.conversations.findLast((one) => one.source_id === source_id);
    if (this.inbox.lock_to_single_conversation && last) return ok({ ...last, meta: {} });
    const status = (text(fields.status) ?? "open") as FakeConversation["status"];
    return ok({ ...this.#addConversation({ ...inbox, status }), meta: {} });
  }

  #addConversation(fields: Omit<FakeConversation, "id">): FakeConversation {
    const conversation = { ...fields, id: this.#nextId() };
    this.conversations.push(conversation);
    this.#queueWebhook({ event: "conversation_created", ...this.#conversationData(conversation) }, null);
    return conversation;
  }

  /** `conversations_controller.rb` toggle_status. */
  #toggleStatus(id: number, { status }: Fields): ChatwootResponse {
    const conversation = this.conversations.find((one) => one.id === id);
    if (!conversation) return notFound();
    conversation.status = status as FakeConversation["status"];
    return ok({ payload: { success: true, current_status: status, conversation_id: id } });
  }

  // --- messages -----------------------------------------------------------------------------------------------------

  /** `app/finders/message_finder.rb`: the last 20, or 100 after an id. */
  #listMessages(id: number, query: URLSearchParams): ChatwootResponse {
    if (!this.conversations.some((one) => one.id === id)) return notFound();
    const [after, before] = [Number(query.get("after") ?? 0), Number(query.get("before") ?? Infinity)];
    const all = this.of(id).filter((one) => one.id > after && one.id < before);
    const payload = after > 0 ? all.slice(0, 100) : all.slice(-20);
    return ok({ meta: {}, payload: payload.map((message) => this.#messageView(message)) });
  }

  /** `messages_controller.rb` create; the limit per minute is from `lib/limits.rb`. */
  #createMessage(id: number, { fields, files }: Request): ChatwootResponse {
    const conversation = this.conversations.find((one) => one.id === id);
    if (!conversation) return notFound();
    if (files.some(({ bytes }) => bytes.length > this.faults.largestFile))
      return { status: 413, text: "<html>413 Request Entity Too Large</html>" };
    const lately = this.of(id).filter(({ created_at }) => Date.now() - created_at.getTime() < 60_000);
    if (lately.length >= this.messagesPerMinute) return { status: 422, body: { error: "Too many messages" } };
    const message_type = (text(fields.message_type) ?? "outgoing") as MessageType;
    // `messages_controller.rb` create turns every exception into 422. The length counts before Liquid rendering.
    if ((text(fields.content) ?? "").length > LONGEST_CONTENT)
      return {
        status: 422,
        body: { error: "Validation failed: Content is too long (maximum is 150000 characters)" },
      };
    const input = fields.content_attributes ?? {};
    // A form carries JSON as text, and Rails accepts no object there.
    if (files.length > 0 && typeof input !== "string" && fields.content_attributes !== undefined) {
      return { status: 422, body: { error: "content_attributes must be a JSON string" } };
    }
    const attributes = (typeof input === "string" ? JSON.parse(input) : input) as Fields;
    const message = this.#addMessage({
      conversation_id: id,
      message_type,
      content: text(fields.content),
      content_type: "text",
      content_attributes: this.#resolveReply(id, attributes),
      private: fields.private === true || fields.private === "true",
      source_id: text(fields.source_id),
      status: "sent",
      attachments: files.map(({ name, type, bytes }) => ({
        id: this.#nextId(),
        file_type: /^(image|audio|video)\//.exec(type)?.[1] ?? "file",
        content_type: type,
        file_name: name,
        bytes,
        missing: 0,
      })),
      is_voice_message: String(fields.is_voice_message) === "true",
      sender: message_type === "incoming" ? { id: conversation.contact_id, name: "" } : this.#agent(),
    });
    // `app/models/message.rb` reopen_conversation.
    if (message_type === "incoming" && ["resolved", "snoozed"].includes(conversation.status)) {
      conversation.status = "open";
      this.#queueWebhook(
        { event: "conversation_status_changed", ...this.#conversationData(conversation) },
        null,
      );
    }
    return ok(this.#messageView(message));
  }

  #agent() {
    return { id: 1, name: "Ana", type: "user" as const };
  }

  /** `app/models/message.rb` ensure_in_reply_to: resolves either id of the target, within this conversation only. */
  #resolveReply(conversation: number, attributes: Fields): Fields {
    const { in_reply_to, in_reply_to_external_id: external, ...rest } = attributes;
    if (in_reply_to === undefined && external === undefined) return rest;
    const target = this.of(conversation).find(
      (one) => one.id === in_reply_to || (external !== undefined && one.source_id === external),
    );
    return { ...rest, in_reply_to: target?.id ?? null, in_reply_to_external_id: target?.source_id ?? null };
  }

  #addMessage(fields: Omit<FakeMessage, "id" | "created_at">): FakeMessage {
    const content = this.#rendered(fields);
    const message = { ...fields, content, id: this.#nextId(), created_at: new Date() };
    this.messages.push(message);
    this.#queueMessageWebhook("message_created", message);
    return message;
  }

  /**
   * `app/models/concerns/liquidable.rb` process_liquid_in_content, before an outgoing message, template or private
   * note is stored: wraps code in raw blocks first, and keeps invalid Liquid as it is.
   */
  #rendered(message: Omit<FakeMessage, "id" | "created_at">): string | null {
    const { content, message_type, conversation_id } = message;
    if (content === null || (message_type !== "outgoing" && message_type !== "template")) return content;
    const conversation = this.conversations.find((one) => one.id === conversation_id);
    const contact = this.contacts.find((one) => one.id === conversation?.contact_id);
    const drops = {
      contact: { ...contact },
      agent: { name: this.#agent().name },
      conversation: { display_id: conversation_id },
      inbox: { name: this.inbox.name },
      account: { name: "Shop" },
    };
    try {
      return renderLiquid(content.replace(/`(.*?)`/gs, "{% raw %}`$1`{% endraw %}"), drops);
    } catch (error) {
      if (error instanceof SyntaxError) return content;
      throw error;
    }
  }

  /** `app/services/messages/status_update_service.rb`: read never becomes delivered, and only failed has an error. */
  #updateMessage(id: number, fields: Fields): ChatwootResponse {
    const message = this.messages.find((one) => one.id === id);
    if (!message) return notFound();
    const status = text(fields.status) as FakeMessage["status"] | null;
    if (status && !(message.status === "read" && status === "delivered")) {
      message.status = status;
      const external_error = status === "failed" ? text(fields.external_error) : null;
      message.content_attributes = { ...message.content_attributes, external_error };
    }
    this.#queueMessageWebhook("message_updated", message);
    return ok(this.#messageView(message));
  }

  /** `messages_controller.rb` destroy. */
  #deleteMessage(id: number): ChatwootResponse {
    const message = this.messages.find((one) => one.id === id);
    if (!message) return notFound();
    this.remove(message);
    return ok({});
  }

  /** `app/views/api/v1/models/_message.json.jbuilder`: a numeric type. */
  #messageView(message: FakeMessage) {
    return {
      id: message.id,
      conversation_id: message.conversation_id,
      content: message.content,
      source_id: message.source_id,
      status: message.status,
      created_at: Math.floor(message.created_at.getTime() / 1000),
      message_type: MESSAGE_TYPES.indexOf(message.message_type),
      private: message.private,
      content_attributes: message.content_attributes,
      attachments: message.attachments.map((one) => this.#attachmentView(message, one)),
      sender: message.sender,
    };
  }

  /** `app/models/attachment.rb` push_event_data. */
  #attachmentView(message: FakeMessage, { id, file_type, content_type, bytes, file_name }: FakeAttachment) {
    const data_url = `${this.faults.frontend ?? this.url}/files/redirect/${message.id}/${id}/${encodeURIComponent(file_name)}`;
    const file_size = bytes.length;
    const extension = file_name.split(".").at(-1) ?? null;
    const account_id = this.account_id;
    const type = this.faults.untypedFiles ? { extension: null } : { extension, content_type };
    return { id, message_id: message.id, file_type, account_id, data_url, file_size, ...type, thumb_url: "" };
  }

  #file(path: string): ChatwootResponse {
    const [, kind, message, id, name] = /^\/files\/(\w+)\/(\d+)\/(\d+)\/(.*)$/.exec(path) ?? [];
    const found = this.messages
      .find((one) => one.id === Number(message))
      ?.attachments.find((one) => one.id === Number(id));
    if (!found) return notFound();
    if (found.missing > 0) {
      found.missing -= 1;
      return notFound();
    }
    if (kind === "redirect") {
      return { status: 302, text: "", location: `${this.url}/files/storage/${message}/${id}/${name}` };
    }
    const type = this.faults.untypedFiles ? "application/octet-stream" : found.content_type;
    return { status: 200, bytes: found.bytes, type };
  }

  // --- webhooks -----------------------------------------------------------------------------------------------------

  /** `app/presenters/conversations/event_data_presenter.rb` push_data. */
  #conversationData(conversation: FakeConversation): Fields {
    const contact = this.contacts.find((one) => one.id === conversation.contact_id);
    const { id, inbox_id, contact_id, source_id, status } = conversation;
    const last = this.of(id).at(-1);
    return {
      id,
      inbox_id,
      status,
      can_reply: true,
      channel: "Channel::Api",
      contact_inbox: { id: 1, contact_id, inbox_id, source_id, hmac_verified: false },
      meta: { sender: { ...contact, email: null, type: "contact" }, assignee: null, team: null },
      // The last one of the conversation, not always the message of this event.
      messages: last ? [this.#messageView(last)] : [],
      labels: [],
      account_id: this.account_id,
    };
  }

  /** `app/models/message.rb` webhook_data: no status, and a textual type. */
  #messageData(event: string, message: FakeMessage): Fields {
    const conversation = this.conversations.find((one) => one.id === message.conversation_id);
    const attachments = message.attachments.map((one) => this.#attachmentView(message, one));
    return {
      event,
      id: message.id,
      content: message.content,
      content_type: message.content_type,
      content_attributes: { ...message.content_attributes },
      additional_attributes: {},
      message_type: message.message_type,
      private: message.private,
      source_id: message.source_id,
      created_at: message.created_at.toISOString(),
      sender: message.sender,
      inbox: { id: this.inbox.id, name: this.inbox.name },
      account: { id: this.account_id, name: "Shop" },
      conversation: conversation ? this.#conversationData(conversation) : {},
      ...(attachments.length > 0 && { attachments }),
    };
  }

  #queueMessageWebhook(event: "message_created" | "message_updated", message: FakeMessage): void {
    this.#queueWebhook(this.#messageData(event, message), message);
  }

  #queueWebhook(event: Fields, message: FakeMessage | null): void {
    if (this.faults.holdWebhooks) {
      this.#held.push({ event, message });
      return;
    }
    const sending = delay(Math.random() * this.jitterMs).then(() => this.#deliver({ event, message }));
    this.#sending.add(sending);
    void sending.finally(() => this.#sending.delete(sending));
  }

  /** `lib/webhooks/trigger.rb`: no retry; a failed webhook marks the message as failed. */
  async #deliver({ event, message }: Queued): Promise<void> {
    const { webhook_url, secret } = this.inbox;
    if (!webhook_url) return;
    const body = JSON.stringify(event);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", secret ?? "")
      .update(`${timestamp}.${body}`)
      .digest("hex");
    const status = await fetch(webhook_url, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "x-chatwoot-delivery": randomUUID(),
        ...(this.#signs() && {
          "x-chatwoot-timestamp": timestamp,
          "x-chatwoot-signature": `sha256=${signature}`,
        }),
      },
      signal: AbortSignal.timeout(30_000),
    }).then(
      (response) => response.status,
      () => 0,
    );
    this.hooks.push({ event, status });
    const isMessage = event.event === "message_created" || event.event === "message_updated";
    if (message && isMessage && (status < 200 || status > 299) && message.status !== "failed") {
      message.status = "failed";
      message.content_attributes.external_error = `webhook answered ${status}`;
      this.#queueMessageWebhook("message_updated", message);
    }
  }
}

export async function startFakeChatwoot(): Promise<FakeChatwoot> {
  return new FakeChatwoot().start();
}

function ok(body: unknown): ChatwootResponse {
  return { status: 200, body };
}

function notFound(): ChatwootResponse {
  return { status: 404, body: { error: "Resource could not be found" } };
}

function taken(attribute: "phone_number" | "identifier"): ChatwootResponse {
  const word = attribute === "phone_number" ? "Phone number" : "Identifier";
  return { status: 422, body: { message: `${word} has already been taken`, attributes: [attribute] } };
}

/** `app/models/contact.rb` resolved_contacts. */
function isResolved({ email, phone_number, identifier }: FakeContact): boolean {
  return [email, phone_number, identifier].some((value) => text(value) !== null);
}

function alternatives(clauses: readonly Clause[]): Clause[][] {
  const groups: Clause[][] = [[]];
  for (const clause of clauses) {
    groups.at(-1)?.push(clause);
    if (clause.query_operator?.toUpperCase() === "OR") groups.push([]);
  }
  return groups;
}

/** `filter_service.rb` filter_values: adds the plus of a phone, and compares other texts in lower case. */
function applies({ attribute_key, values }: Clause, contact: FakeContact): boolean {
  const [wanted = ""] = values;
  const value = text(contact[attribute_key]);
  return attribute_key === "phone_number"
    ? value === `+${wanted.replaceAll("+", "")}`
    : value?.toLowerCase() === wanted.toLowerCase();
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function notAuthorised(): ChatwootResponse {
  return { status: 401, body: { error: "You are not authorized to do this action" } };
}

function text(value: unknown): string | null {
  return value === undefined || value === null || value === "" ? null : String(value);
}

async function readJson(raw: IncomingMessage): Promise<Fields> {
  const parts: Buffer[] = [];
  for await (const part of raw) parts.push(part as Buffer);
  const body = Buffer.concat(parts).toString("utf8");
  return body === "" ? {} : (JSON.parse(body) as Fields);
}

async function readForm(raw: IncomingMessage, type: string) {
  const fields: Fields = {};
  const files: Request["files"] = [];
  let take: ((piece: Buffer) => void) | undefined;
  const texts: { name: string; pieces: Buffer[] }[] = [];
  const uploads: { name: string; type: string; pieces: Buffer[] }[] = [];
  for await (const next of readMultipart(raw as AsyncIterable<Buffer>, type)) {
    if ("piece" in next) {
      take?.(next.piece);
      continue;
    }
    const { name, file_name, mime_type } = next.part;
    const pieces: Buffer[] = [];
    if (file_name !== undefined) {
      uploads.push({ name: file_name, type: mime_type ?? "application/octet-stream", pieces });
    } else texts.push({ name, pieces });
    take = (piece) => void pieces.push(piece);
  }
  for (const { name, pieces } of texts) fields[name] = Buffer.concat(pieces).toString("utf8");
  for (const { pieces, ...upload } of uploads) files.push({ ...upload, bytes: Buffer.concat(pieces) });
  return { fields, files };
}
