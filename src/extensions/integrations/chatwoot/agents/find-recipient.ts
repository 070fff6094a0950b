import { type RecipientInput, resolveRecipient } from "../../../../core/contacts/contacts.ts";
import type { Jid } from "../../../../network/driver.ts";
import { GatewayError } from "../../../../platform/gateway-error.ts";
import { findChatByConversation } from "../../integration-chat.ts";
import { findReplyTarget, type ReplyTarget } from "../../queue-replies.ts";
import type { ChatwootContext } from "../chatwoot-context.ts";
import { inboxKeyOf, type MappedChat, saveMappedChat } from "../find-or-create-conversation.ts";
import type { WebhookConversation } from "./chatwoot-webhook-body.ts";

/**
 * The recipient of a conversation's messages; undefined if its contact is not reachable by WhatsApp. Stores a
 * conversation that an agent has started, so that replies go into it.
 */
export async function findRecipient(
  context: ChatwootContext,
  conversation: WebhookConversation,
): Promise<ReplyTarget | undefined> {
  const { deps, integration } = context;
  const known = await findChatByConversation<MappedChat>(deps.db, integration, String(conversation.id));
  const isOfInbox = known?.state.inbox === inboxKeyOf(integration);
  const target = isOfInbox ? (known?.chat as Jid) : await addressOf(context, conversation);
  const recipient = target && readTarget({ jid: target });
  if (!recipient) return undefined;
  const route = await findReplyTarget(deps, integration, recipient);
  if (!isOfInbox) await remember(context, conversation, { jid: route.jid, phone: recipient.phone });
  return route;
}

/** The identifier that the gateway set, else what agents know: an identifier of ours, or the phone. */
async function addressOf(
  { deps, integration }: ChatwootContext,
  conversation: WebhookConversation,
): Promise<Jid | undefined> {
  const sender = conversation.meta?.sender;
  const named = [conversation.contact_inbox?.source_id, sender?.identifier].find(
    (name) => name && isJid(name),
  );
  if (named) return named as Jid;
  const person = readTarget({ number: sender?.phone_number ?? "" });
  const { instance_id: id, account_id } = integration;
  return person && deps.numbers.resolve({ id, account_id }, person.jid);
}

function isJid(name: string): boolean {
  return /@(s\.whatsapp\.net|lid|g\.us)$/.test(name);
}

function readTarget(target: RecipientInput) {
  try {
    return resolveRecipient(target);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return undefined;
  }
}

async function remember(
  context: ChatwootContext,
  { id, contact_inbox, meta }: WebhookConversation,
  { jid, phone }: { jid: string; phone: string | null },
): Promise<void> {
  const contact_id = contact_inbox?.contact_id ?? meta?.sender?.id;
  const source_id = contact_inbox?.source_id;
  if (contact_id == null || source_id == null) return;
  // Agents chose its name, so the gateway does not change it.
  const contact = { contact_id, source_id, name: "", phone };
  await saveMappedChat(context, { jid }, contact, id);
}
