import {
  deleteOutgoing,
  queueAction,
  type StoredContent,
  selectMessages,
  toQuoted,
} from "../../../../core/messages/messages.ts";
import type { Job, JobResult } from "../../../../engine/engine.ts";
import type { Jid, QuotedMessage } from "../../../../network/driver.ts";
import type { Trx } from "../../../../platform/db/database.ts";
import { faultPoint } from "../../../../platform/fault-point.ts";
import { GatewayError } from "../../../../platform/gateway-error.ts";
import { completeJob } from "../../delivery/complete-job.ts";
import { findProviderMessageLinks, type MessageLink } from "../../message-link.ts";
import { queueReplies, type ReplyTarget } from "../../queue-replies.ts";
import { type ChatwootConfig, chatwootConfigOf } from "../chatwoot-config.ts";
import type { ChatwootContext } from "../chatwoot-context.ts";
import { showFailure } from "../report-status.ts";
import { toWhatsAppMarkup } from "../to-markdown.ts";
import type { AgentMessage, Attachment } from "./chatwoot-webhook-body.ts";
import { AgentFileError, fetchAgentFile } from "./fetch-agent-file.ts";
import { findRecipient } from "./find-recipient.ts";
import { recordUnsentMessage } from "./record-unsent-message.ts";

interface Item {
  title?: unknown;
  value?: unknown;
  description?: unknown;
  link?: unknown;
  label?: unknown;
  media_url?: unknown;
  actions?: unknown;
}

/** A button of a card. */
interface Action {
  text?: unknown;
  uri?: unknown;
}

const PLAIN = new Set(["text", "input_csat", ""]);

const WITH_ITEMS = new Set(["input_select", "cards", "form", "article"]);

const AT_ONCE = 100;

/** One WhatsApp message of an agent's message: the text is part 0, files follow. */
interface Part {
  part: number;
  content: StoredContent;
}

const FILE_TRIES_MS = [1_000, 2_000, 4_000, 8_000, 16_000];

/** Sends an agent's message, or its parts that have failed before. */
export async function sendAgentMessage(
  context: ChatwootContext,
  job: Job,
  message: AgentMessage,
  links: readonly MessageLink[] = [],
): Promise<JobResult> {
  const text = agentMessageText(chatwootConfigOf(context.integration), message);
  if (text === undefined)
    return fail(context, job, message, `WhatsApp cannot send messages of the type ${message.content_type}.`);
  const parts: Part[] = [];
  try {
    const route = await findRecipient(context, message.conversation);
    if (!route) return await fail(context, job, message, "The contact has no WhatsApp number.");
    await readParts(context, message, { text, sent: sentParts(links), chat: route.jid }, parts);
    return await accept(context, job, { message, route, parts });
  } catch (error) {
    await dropFiles(context, parts);
    const againMs = FILE_TRIES_MS[job.attempts];
    if (error instanceof AgentFileError && error.isTransient && againMs !== undefined)
      return { end: "retry", at: new Date(Date.now() + againMs) };
    if (!(error instanceof AgentFileError || error instanceof GatewayError)) throw error;
    return fail(context, job, message, error.message);
  }
}

function sentParts(links: readonly MessageLink[]): Set<number> {
  return new Set(links.filter(({ status }) => status !== "failed").map(({ part }) => part));
}

/** One file has the text as its caption; before several files the text goes alone. */
async function readParts(
  context: ChatwootContext,
  message: AgentMessage,
  { text, sent, chat }: { text: string; sent: Set<number>; chat: Jid },
  parts: Part[],
): Promise<void> {
  const files = (message.attachments ?? []).filter(({ data_url }) => data_url);
  const [only] = files;
  const isCaption = files.length === 1 && only !== undefined && only.file_type !== "audio";
  const quoted = await findQuoted(context, message, chat);
  const add = (part: number, content: StoredContent) =>
    parts.push({ part, content: { ...content, ...(quoted && parts.length === 0 && { quoted }) } });
  if (isCaption) {
    if (!sent.has(0)) add(0, await fetchAgentFile(context, only, text));
    return;
  }
  if (text !== "" && !sent.has(0)) add(0, { kind: "text", text });
  for (const [at, file] of files.entries()) {
    if (!sent.has(at + 1)) add(at + 1, await fetchAgentFile(context, file satisfies Attachment, undefined));
  }
}

/** The message that the agent quotes; an unknown one is left out. */
async function findQuoted(
  { deps, integration }: ChatwootContext,
  message: AgentMessage,
  chat: Jid,
): Promise<QuotedMessage | undefined> {
  const target = message.content_attributes?.in_reply_to;
  if (target === undefined || target === null) return undefined;
  const links = await findProviderMessageLinks(deps.db, integration.id, String(target));
  const id = links.find(({ message_id }) => message_id !== null)?.message_id;
  if (!id) return undefined;
  const row = await selectMessages(deps.db)
    .where("m.instance_id", "=", integration.instance_id)
    .where("m.message_id", "=", id)
    .executeTakeFirst();
  return row && toQuoted(row, chat);
}

interface Sending {
  message: AgentMessage;
  route: ReplyTarget;
  parts: Part[];
}

/** Messages, links and the end of the job in one commit: after any crash, it is sent once. */
async function accept(context: ChatwootContext, job: Job, sending: Sending): Promise<JobResult> {
  const { deps, integration } = context;
  const end = await completeJob(deps, job, async (trx) => {
    const { route, parts, message } = sending;
    const replies = parts.map(({ content }) => ({ content }));
    const key = `chatwoot:${message.id}:${job.id}`;
    const queued = await queueReplies(trx, route, replies, {
      origin: "inbox",
      key,
      sendHoldMs: deps.sendHoldMs,
    });
    await writeLinks(
      trx,
      context,
      sending,
      queued.map((one) => one?.message_id ?? null),
    );
    if (chatwootConfigOf(integration).mark_read) await markRead(trx, route, deps.sendHoldMs);
    return [route.lane];
  });
  faultPoint("chatwoot:after-accept");
  return end;
}

/** Replaces failed links. */
async function writeLinks(
  trx: Trx,
  { integration }: ChatwootContext,
  { message, route, parts }: Sending,
  ids: readonly (string | null)[],
): Promise<void> {
  const provider_message_id = String(message.id);
  await trx
    .deleteFrom("integration_link")
    .where("integration_id", "=", integration.id)
    .where("provider_message_id", "=", provider_message_id)
    .where("status", "=", "failed")
    .execute();
  if (parts.length === 0) return;
  await trx
    .insertInto("integration_link")
    .values(
      parts.map(({ part }, at) => ({
        account_id: integration.account_id,
        integration_id: integration.id,
        chat: route.jid,
        part,
        message_id: ids[at] ?? null,
        provider_conversation_id: String(message.conversation.id),
        provider_message_id,
        origin: "provider" as const,
        status: "done" as const,
      })),
    )
    .execute();
}

/** Stores the failure, so that the agent's Retry is recognised; then shows it to the agent. */
async function fail(
  context: ChatwootContext,
  job: Job,
  message: AgentMessage,
  reason: string,
): Promise<JobResult> {
  const { deps, integration } = context;
  await recordUnsentMessage(deps.db, integration, message, { status: "failed", error: reason });
  const since = new Date(message.created_at ?? Date.now());
  return showFailure(context, job, since, {
    conversation: message.conversation.id,
    message: String(message.id),
    external_error: reason,
  });
}

async function dropFiles({ deps }: ChatwootContext, parts: readonly Part[]): Promise<void> {
  const uploads = parts.flatMap(({ content }) =>
    content.kind === "media" && content.upload ? [content.upload] : [],
  );
  await deleteOutgoing(deps.db, uploads).catch(() => {});
}

/** A reply implies that the agent has read the earlier messages. */
async function markRead(trx: Trx, route: ReplyTarget, holdMs: number): Promise<void> {
  const { instance_id: id, account_id, lane, conversation_id, jid } = route;
  const unread = await selectMessages(trx)
    .where("m.conversation_id", "=", conversation_id)
    .where("m.from_me", "=", false)
    .where("m.read_at", "is", null)
    .orderBy("m.id", "desc")
    .limit(AT_ONCE)
    .execute();
  if (unread.length === 0) return;
  const targets = unread.map(({ message_id, sender }) => ({
    id: message_id,
    from_me: false,
    ...(sender && { sender: sender.jid }),
  }));
  await queueAction(trx, { id, account_id, lane }, { action: "read", jid, targets }, holdMs);
}

/** The WhatsApp text of an agent's message; undefined for a kind that WhatsApp cannot show. */
function agentMessageText(config: ChatwootConfig, message: AgentMessage): string | undefined {
  const kind = message.content_type ?? "";
  if (!PLAIN.has(kind) && !WITH_ITEMS.has(kind)) return undefined;
  const content = toWhatsAppMarkup(message.content ?? "");
  const text = WITH_ITEMS.has(kind) ? [content, ...itemsOf(message)].filter(Boolean).join("\n") : content;
  return signed(config, message, text);
}

function itemsOf({ content_attributes }: AgentMessage): string[] {
  const items = content_attributes?.items;
  if (!Array.isArray(items)) return [];
  return items.filter(isObject<Item>).map((item, at) => {
    const lines = [item.title ?? item.label ?? item.value, item.description, item.link];
    const shown = `${at + 1}. ${lines.filter(isText).join(" – ")}`;
    return [shown, ...[item.media_url].filter(isText), ...actionsOf(item)].join("\n");
  });
}

/** The buttons of a card as text, since WhatsApp Web has none: their labels and links. */
function actionsOf({ actions }: Item): string[] {
  if (!Array.isArray(actions)) return [];
  return actions
    .filter(isObject<Action>)
    .map(({ text, uri }) => [text, uri].filter(isText).join(": "))
    .filter(isText)
    .map((shown) => `• ${shown}`);
}

function isObject<T extends object>(value: unknown): value is T {
  return typeof value === "object" && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Messages that Chatwoot sends automatically have no author. */
function signed(config: ChatwootConfig, { message_type, sender }: AgentMessage, text: string): string {
  const name = message_type === "outgoing" ? sender?.name : undefined;
  if (!config.sign_messages || !name || text === "") return text;
  return `*${name}:*${config.signature_delimiter}${text}`;
}
