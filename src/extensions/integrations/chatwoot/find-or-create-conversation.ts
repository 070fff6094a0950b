import type { Jid } from "../../../network/driver.ts";
import type { Db } from "../../../platform/db/database.ts";
import { withTimeout } from "../../../platform/limits/with-timeout.ts";
import { readIntegrationChat, saveIntegrationChat } from "../integration-chat.ts";
import type { IntegrationDeps } from "../integration-provider.ts";
import type { Integration } from "../integration-row.ts";
import type { ChatwootApi, ChatwootConversation, ChatwootResult } from "./api/chatwoot-api.ts";
import { chatwootConfigOf } from "./chatwoot-config.ts";
import {
  type ChatwootPerson,
  findOrCreateContact,
  type MappedContact,
  updateContact,
} from "./find-or-create-contact.ts";

const TIMEOUT_MS = 3_000;

/** The stored data of a chat. */
export interface MappedChat extends MappedContact {
  /** The inbox that the chat belongs to; data of another inbox is ignored. */
  inbox: string;
}

interface FoundConversation extends MappedContact {
  conversation_id: number;
}

export interface ConversationOptions {
  deps: Pick<IntegrationDeps, "db" | "findSession">;
  chatwoot: ChatwootApi;
  integration: Integration;
}

/**
 * Finds or creates the conversation of a chat. Jobs of a chat run sequentially, so it is created once.
 * `isGone`: the stored conversation no longer exists.
 */
export async function findOrCreateConversation(
  options: ConversationOptions,
  person: ChatwootPerson,
  isGone = false,
): Promise<ChatwootResult<FoundConversation>> {
  const stored = await readStored(options, person);
  const contact = stored.contact && !isGone ? await refresh(options, stored.contact, person) : undefined;
  if (contact && stored.conversation !== null) {
    if (contact !== stored.contact) await saveMappedChat(options, person, contact, stored.conversation);
    return { ok: true, value: { ...contact, conversation_id: stored.conversation } };
  }
  const made = contact ? ({ ok: true, value: contact } as const) : await make(options, person);
  if (!made.ok) return made;
  const chosen = await choose(options, made.value);
  if (!chosen.ok) return chosen;
  const conversation_id = chosen.value.id;
  await saveMappedChat(options, person, made.value, conversation_id);
  return { ok: true, value: { ...made.value, conversation_id } };
}

async function readStored({ deps: { db }, integration }: ConversationOptions, person: ChatwootPerson) {
  const { state, provider_conversation_id } = await readIntegrationChat<MappedChat>(db, integration, {
    chat: person.jid,
    lid: person.lid,
  });
  const { inbox, contact_id, source_id, name = "", phone = null } = state;
  if (inbox !== inboxKeyOf(integration) || contact_id === undefined || source_id === undefined)
    return { contact: undefined, conversation: null };
  return {
    contact: { contact_id, source_id, name, phone },
    conversation: provider_conversation_id === null ? null : Number(provider_conversation_id),
  };
}

/** Identifies an inbox among all that the integration has used. */
export function inboxKeyOf(integration: Integration): string {
  const { url, account_id, inbox_id } = chatwootConfigOf(integration);
  return `${url} ${account_id} ${inbox_id}`;
}

async function refresh(options: ConversationOptions, contact: MappedContact, person: ChatwootPerson) {
  const now = await updateContact(contactOptions(options), contact, person);
  const isSame =
    now.contact_id === contact.contact_id && now.name === contact.name && now.phone === contact.phone;
  return isSame ? contact : now;
}

function make(options: ConversationOptions, person: ChatwootPerson): Promise<ChatwootResult<MappedContact>> {
  return findOrCreateContact(contactOptions(options), person);
}

function contactOptions({ deps, chatwoot, integration }: ConversationOptions) {
  const { merge_brazil_contacts: mergeBrazil } = chatwootConfigOf(integration);
  const pictureOf = (person: ChatwootPerson) => findProfilePicture(deps, integration.instance_id, person);
  return { chatwoot, mergeBrazil, hmacToken: integration.secrets.hmac_token, pictureOf };
}

export async function saveMappedChat(
  { deps: { db }, integration }: Pick<ConversationOptions, "integration"> & { deps: { db: Db } },
  { jid }: Pick<ChatwootPerson, "jid">,
  contact: MappedContact,
  conversation: number,
): Promise<void> {
  await saveIntegrationChat<MappedChat>(db, integration, {
    chat: jid,
    provider_conversation_id: String(conversation),
    state: { ...contact, inbox: inboxKeyOf(integration) },
  });
}

/** An open conversation first, else the latest if reopening is allowed, else a new one. */
async function choose(
  { chatwoot, integration }: ConversationOptions,
  { contact_id, source_id }: MappedContact,
): Promise<ChatwootResult<ChatwootConversation>> {
  const { inbox_id, reopen_conversation, conversation_status } = chatwootConfigOf(integration);
  const listed = await chatwoot.conversationsOf(contact_id);
  if (!listed.ok && listed.error.reason !== "not_found") return listed;
  const ours = listed.ok ? listed.value.payload.filter((one) => one.inbox_id === inbox_id) : [];
  const open = ours.find(({ status }) => status !== "resolved");
  const chosen = open ?? (reopen_conversation ? ours[0] : undefined);
  if (chosen) return { ok: true, value: chosen };
  return chatwoot.createConversation(contact_id, source_id, conversation_status);
}

/**
 * The URL of a person's picture, which Chatwoot fetches itself; undefined if the network does not return it
 * soon.
 */
async function findProfilePicture(
  { findSession }: Pick<IntegrationDeps, "findSession">,
  instanceId: number,
  { jid, is_group }: ChatwootPerson,
): Promise<string | undefined> {
  if (is_group) return undefined;
  const query = findSession(instanceId).then((session) => session?.contacts.info(jid as Jid));
  const result = await withTimeout(
    query.catch(() => undefined),
    TIMEOUT_MS,
  );
  return result?.outcome === "done" ? (result.value.picture_url ?? undefined) : undefined;
}
