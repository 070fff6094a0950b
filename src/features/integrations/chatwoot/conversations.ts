import type { Db } from "../../../platform/db.ts";
import { readChat, writeChat } from "../chat-state.ts";
import type { Integration } from "../integration-row.ts";
import type { IntegrationDeps } from "../provider.ts";
import type { Answer, Chatwoot, ChatwootConversation } from "./api.ts";
import { configOf } from "./config.ts";
import { findPicture } from "./find-picture.ts";
import { type KnownContact, makeContact, type Person, refreshContact } from "./people.ts";

/** What is kept of a chat. */
export interface ChatwootChat extends KnownContact {
  /** The inbox that it is of; what is known of another one says nothing. */
  inbox: string;
}

interface FoundConversation extends KnownContact {
  conversation_id: number;
}

export interface ConversationOptions {
  deps: Pick<IntegrationDeps, "db" | "reachSession">;
  chatwoot: Chatwoot;
  integration: Integration;
}

/**
 * The conversation of a chat, found or made; one job of a chat runs at a time, so that it is made once. `isGone`: the one
 * that was remembered is not there any more.
 */
export async function findConversationOf(
  options: ConversationOptions,
  person: Person,
  isGone = false,
): Promise<Answer<FoundConversation>> {
  const kept = await readKept(options, person);
  const contact = kept.contact && !isGone ? await refresh(options, kept.contact, person) : undefined;
  if (contact && kept.conversation !== null) {
    if (contact !== kept.contact) await keep(options, person, contact, kept.conversation);
    return { ok: true, value: { ...contact, conversation_id: kept.conversation } };
  }
  const made = contact ? ({ ok: true, value: contact } as const) : await make(options, person);
  if (!made.ok) return made;
  const chosen = await choose(options, made.value);
  if (!chosen.ok) return chosen;
  const conversation_id = chosen.value.id;
  await keep(options, person, made.value, conversation_id);
  return { ok: true, value: { ...made.value, conversation_id } };
}

async function readKept({ deps: { db }, integration }: ConversationOptions, person: Person) {
  const { state, provider_conversation_id } = await readChat<ChatwootChat>(db, integration, {
    chat: person.jid,
    lid: person.lid,
  });
  const { inbox, contact_id, source_id, name = "", phone = null } = state;
  if (inbox !== inboxOf(integration) || contact_id === undefined || source_id === undefined)
    return { contact: undefined, conversation: null };
  return {
    contact: { contact_id, source_id, name, phone },
    conversation: provider_conversation_id === null ? null : Number(provider_conversation_id),
  };
}

/** Names an inbox among all that the integration may have been given. */
export function inboxOf(integration: Integration): string {
  const { url, account_id, inbox_id } = configOf(integration);
  return `${url} ${account_id} ${inbox_id}`;
}

async function refresh(options: ConversationOptions, contact: KnownContact, person: Person) {
  const now = await refreshContact(peopleOptions(options), contact, person);
  const isSame =
    now.contact_id === contact.contact_id && now.name === contact.name && now.phone === contact.phone;
  return isSame ? contact : now;
}

function make(options: ConversationOptions, person: Person): Promise<Answer<KnownContact>> {
  return makeContact(peopleOptions(options), person);
}

function peopleOptions({ deps, chatwoot, integration }: ConversationOptions) {
  const { merge_brazil_contacts: mergeBrazil } = configOf(integration);
  const pictureOf = (person: Person) => findPicture(deps, integration.instance_id, person);
  return { chatwoot, mergeBrazil, hmacToken: integration.secrets.hmac_token, pictureOf };
}

export async function keep(
  { deps: { db }, integration }: Pick<ConversationOptions, "integration"> & { deps: { db: Db } },
  { jid }: Pick<Person, "jid">,
  contact: KnownContact,
  conversation: number,
): Promise<void> {
  await writeChat<ChatwootChat>(db, integration, {
    chat: jid,
    provider_conversation_id: String(conversation),
    state: { ...contact, inbox: inboxOf(integration) },
  });
}

/** One that is not resolved first, else the latest where they may be reopened, else a new one. */
async function choose(
  { chatwoot, integration }: ConversationOptions,
  { contact_id, source_id }: KnownContact,
): Promise<Answer<ChatwootConversation>> {
  const { inbox_id, reopen_conversation, conversation_status } = configOf(integration);
  const listed = await chatwoot.conversationsOf(contact_id);
  if (!listed.ok && listed.refusal.reason !== "not_found") return listed;
  const ours = listed.ok ? listed.value.payload.filter((one) => one.inbox_id === inbox_id) : [];
  const open = ours.find(({ status }) => status !== "resolved");
  const chosen = open ?? (reopen_conversation ? ours[0] : undefined);
  if (chosen) return { ok: true, value: chosen };
  return chatwoot.createConversation(contact_id, source_id, conversation_status);
}
