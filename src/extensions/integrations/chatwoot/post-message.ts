import type { Job, JobResult } from "../../../engine/engine.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import type { EventWork } from "../integration-provider.ts";
import { isOnIgnoreList } from "../is-on-ignore-list.ts";
import { claimMessageLink, type MessageLink, updateMessageLink } from "../message-link.ts";
import type { ChatwootMessage, ChatwootResult, NewChatwootMessage } from "./api/chatwoot-api.ts";
import { codeOfChatwootError, toInboxGone } from "./api/chatwoot-error.ts";
import type { FormFile } from "./api/multipart-form.ts";
import { chatwootConfigOf, sourceId } from "./chatwoot-config.ts";
import { type ChatwootContext, endWithError } from "./chatwoot-context.ts";
import { findLinkOfMessage } from "./find-link-of-message.ts";
import type { ChatwootPerson } from "./find-or-create-contact.ts";
import { findOrCreateConversation } from "./find-or-create-conversation.ts";
import { bareType, type EventMessage, fileNameOf, renderMessage } from "./render-message.ts";

type Event = EventWork["event"];

/** A message of the chat to be posted to the inbox. */
interface Posting {
  /** A stable key: for a message its WhatsApp id. */
  key: string;
  person: ChatwootPerson;
  post: Omit<NewChatwootMessage, "source_id">;
  file?: FormFile;
  since: Date;
}

const FILE_WAIT_MS = 10 * 60_000;
const FILE_AGAIN_MS = 5_000;
/** A message delayed by more than this shows its original time. */
const LATE_MS = 60_000;

/** Posts a message of a chat to the inbox. */
export async function postMessage(context: ChatwootContext, job: Job, event: Event): Promise<JobResult> {
  const message = event.data.message as EventMessage;
  const person = chatwootPersonOf(event);
  const direction = isForwardedChat(context, person) ? messageDirectionOf(context, message) : undefined;
  if (!direction) return { end: "done" };
  const file = await openFile(context, message, event.recorded_at);
  if (file === "later") return { end: "retry", at: new Date(Date.now() + FILE_AGAIN_MS) };
  const text = renderMessage(message);
  const content =
    file === "gone" ? `${text}\n[${message.media?.type}: the file could not be fetched]`.trim() : text;
  return postOnce(context, job, {
    key: message.message_id,
    person,
    post: {
      content,
      ...direction,
      ...(await attributesOf(context, message, message.quoted?.id)),
      ...voiceOf(message),
    },
    ...(typeof file === "object" && { file }),
    since: event.recorded_at,
  });
}

/** The chat's person or group, as known when the event was recorded. */
export function chatwootPersonOf(event: Event): ChatwootPerson {
  const { message, conversation } = event.data as {
    message: EventMessage;
    conversation: { title: string | null };
  };
  const { lid, phone, is_group } = message;
  return { jid: event.chat, lid, phone: is_group ? null : phone, name: conversation.title, is_group };
}

export function isForwardedChat(
  { integration }: Pick<ChatwootContext, "integration">,
  person: ChatwootPerson,
): boolean {
  const { groups, ignore_jids } = chatwootConfigOf(integration);
  if (person.is_group && !groups) return false;
  return !isOnIgnoreList(ignore_jids, person);
}

/** Undefined for messages that are not posted. */
export function messageDirectionOf(
  { integration }: Pick<ChatwootContext, "integration">,
  { from_me, origin, unsupported }: Pick<EventMessage, "from_me" | "origin" | "unsupported">,
): Pick<NewChatwootMessage, "message_type" | "private"> | undefined {
  if (unsupported) return { message_type: "outgoing", private: true };
  if (!from_me) return { message_type: "incoming" };
  if (origin === "inbox") return undefined;
  const mode = origin === "phone" ? chatwootConfigOf(integration).sent_from_phone : "message";
  if (mode === "off") return undefined;
  return { message_type: "outgoing", ...(mode === "private_note" && { private: true }) };
}

/** The quoted message, the time of writing, and that no agent wrote it. */
export async function attributesOf(
  { deps, integration }: ChatwootContext,
  { from_me, timestamp }: Pick<EventMessage, "from_me" | "timestamp">,
  target: string | undefined,
): Promise<Pick<NewChatwootMessage, "content_attributes">> {
  const link = target === undefined ? undefined : await findLinkOfMessage(deps.db, integration, target);
  const at = Date.parse(timestamp);
  const content_attributes = {
    ...(link && { in_reply_to: Number(link.provider_message_id) }),
    ...(target && !link && { in_reply_to_external_id: sourceId(integration.instance_id, target) }),
    ...(Date.now() - at > LATE_MS && { external_created_at: Math.floor(at / 1000) }),
    ...(from_me && { external_echo: true }),
  };
  return Object.keys(content_attributes).length > 0 ? { content_attributes } : {};
}

function voiceOf({ media }: EventMessage): Pick<NewChatwootMessage, "is_voice_message"> {
  return media?.type === "ptt" ? { is_voice_message: true } : {};
}

/** A file that does not arrive within ten minutes is left out. */
async function openFile(
  { deps }: ChatwootContext,
  { media }: EventMessage,
  since: Date,
): Promise<FormFile | "later" | "gone" | undefined> {
  if (!media) return undefined;
  if (media.id === null) return "gone";
  try {
    const { size, mime_type, read } = await deps.openFile(media.id);
    const file_name = fileNameOf({ ...media, mime_type });
    return { file_name, mime_type: bareType(mime_type), size, read: () => read() };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const mayCome = error.retryAfterSeconds !== undefined || error.code === "INSTANCE_NOT_CONNECTED";
    return mayCome && Date.now() - since.getTime() < FILE_WAIT_MS ? "later" : "gone";
  }
}

/** Posts each message once: claims it before, and searches for it if an earlier outcome is unknown. */
export async function postOnce(context: ChatwootContext, job: Job, posting: Posting): Promise<JobResult> {
  const { db } = context.deps;
  const { key, person } = posting;
  const { link, isNew: isClaimed } = await claimMessageLink(db, context.integration, {
    chat: person.jid,
    message_id: key,
  });
  if (!isClaimed && link.status !== "claimed") return { end: "done" };
  const before = isClaimed ? undefined : await findPosted(context, link, key);
  if (before && !before.ok && before.error.reason !== "not_found") {
    return endWithError(context, job, before.error, posting.since);
  }
  const posted =
    before?.ok && before.value
      ? { ok: true as const, value: before.value }
      : await post(context, link, posting);
  if (!posted.ok) return endUnposted(context, job, link, posted.error, posting.since);
  await updateMessageLink(db, link.id, {
    status: "done",
    provider_message_id: String(posted.value.id),
    error: null,
  });
  return { end: "done" };
}

async function endUnposted(
  context: ChatwootContext,
  job: Job,
  link: MessageLink,
  refusal: Extract<ChatwootResult<never>, { ok: false }>["error"],
  since: Date,
): Promise<JobResult> {
  const { db } = context.deps;
  const end = await endWithError(context, job, refusal, since);
  const isSafe = refusal.failure.stage !== "attempt";
  if (end.end === "done") await updateMessageLink(db, link.id, { status: "failed", error: refusal.text });
  else if (isSafe) await updateMessageLink(db, link.id, { status: "waiting", error: refusal.text });
  return end;
}

async function post(
  context: ChatwootContext,
  link: MessageLink,
  posting: Posting,
): Promise<ChatwootResult<ChatwootMessage>> {
  const posted = await postInto(context, link, posting, false);
  if (posted.ok || posted.error.reason !== "not_found") return posted;
  const again = await postInto(context, link, posting, true);
  if (again.ok || again.error.reason !== "not_found") return again;
  const error = toInboxGone(again.error);
  await context.deps.health.warn(context.integration, error.text, {
    code: codeOfChatwootError(error.reason),
  });
  return { ok: false, error };
}

async function postInto(
  context: ChatwootContext,
  link: MessageLink,
  { key, person, post, file }: Posting,
  isGone: boolean,
): Promise<ChatwootResult<ChatwootMessage>> {
  const { deps, integration, chatwoot } = context;
  const found = await findOrCreateConversation(context, person, isGone);
  if (!found.ok) return found;
  const { conversation_id } = found.value;
  await updateMessageLink(deps.db, link.id, { provider_conversation_id: String(conversation_id) });
  const message = { ...post, source_id: sourceId(integration.instance_id, key) };
  const posted = await chatwoot.postMessage(conversation_id, message, file);
  faultPoint("chatwoot:after-post");
  if (posted.ok || posted.error.reason !== "too_large" || !file) return posted;
  const content = `${post.content}\n[${file.file_name}: larger than Chatwoot accepts]`.trim();
  return chatwoot.postMessage(conversation_id, { ...message, content });
}

const PAGES = 20;
const CLOCKS_APART_MS = 120_000;

/** Whether it is posted already: Chatwoot would store a duplicate under the same id. */
async function findPosted(
  { chatwoot, integration }: ChatwootContext,
  { provider_conversation_id, created_at }: MessageLink,
  key: string,
): Promise<ChatwootResult<ChatwootMessage | undefined>> {
  if (provider_conversation_id === null) return { ok: true, value: undefined };
  const expected = sourceId(integration.instance_id, key);
  const oldest = (created_at.getTime() - CLOCKS_APART_MS) / 1000;
  let before: number | undefined;
  for (let page = 0; page < PAGES; page++) {
    const listed = await chatwoot.listMessages(Number(provider_conversation_id), before);
    if (!listed.ok) return listed;
    const { payload } = listed.value;
    const found = payload.find(({ source_id }) => source_id === expected);
    if (found) return { ok: true, value: found };
    const [first] = payload;
    if (!first || first.created_at < oldest) break;
    before = first.id;
  }
  return { ok: true, value: undefined };
}
