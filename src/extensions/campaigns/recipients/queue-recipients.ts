import { sql } from "kysely";
import {
  type ConversationRef,
  type Conversations,
  canonicalNumberOf,
  type NumberResolver,
} from "../../../core/contacts/contacts.ts";
import { insertMessages, type NewMessage, type StoredContent } from "../../../core/messages/messages.ts";
import { newMessageId, phoneJid, phoneOfJid } from "../../../network/jid.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { ulid } from "../../../platform/ulid.ts";
import type { CampaignRow } from "../campaign-row.ts";
import type { RecipientCandidate, RecipientChoice } from "./choose-recipients.ts";

/** What a campaign reads of its sending instance. */
export interface CampaignInstance {
  id: number;
  account_id: number;
  lane: number;
  max_messages: number | null;
}

/** A recipient whose chat exists. */
export interface ReadyRecipient extends RecipientCandidate {
  conversation: ConversationRef;
}

/** Finds or creates the chats of the next recipients, before the transaction that queues them. */
export async function findRecipientChats(
  { conversations, numbers }: { conversations: Conversations; numbers: NumberResolver },
  { id: instance_id, account_id }: CampaignInstance,
  candidates: readonly RecipientCandidate[],
): Promise<ReadyRecipient[]> {
  return Promise.all(
    candidates.map(async (candidate) => {
      const jid = await numbers.resolve({ id: instance_id, account_id }, phoneJid(candidate.phone));
      const chat = { account_id, instance_id, jid, phone: phoneOfJid(jid), lid: null, push_name: null };
      return { ...candidate, conversation: await conversations.getOrCreate({ ...chat, type: "contact" }) };
    }),
  );
}

/**
 * Selects each person once, however often the campaign names them, and marks the other entries as duplicates.
 * The caller has locked the campaign; a unique index enforces the result.
 */
export async function skipDuplicates(
  trx: Trx,
  campaign: CampaignRow,
  ready: readonly ReadyRecipient[],
): Promise<ReadyRecipient[]> {
  if (ready.length === 0) return [];
  const candidates = ready.map(({ id, conversation }) => ({ id, ...namesOf(conversation) }));
  const { rows } = await sql<{ id: number }>`
    select x.id from jsonb_to_recordset(${JSON.stringify(candidates)}::jsonb) as x (id bigint, jid text, person text)
    left join contact p on p.instance_id = ${campaign.instance_id} and p.jid = x.jid
    where exists (select from campaign_recipient r
      where r.campaign_id = ${campaign.id} and r.id <> x.id and r.person in (x.person, p.lid))`.execute(trx);
  const existing = new Set(rows.map(({ id }) => id));
  const persons = new Set<string>();
  const accepted = ready.filter(({ id, conversation }) => {
    const { person } = namesOf(conversation);
    const isFirst = !existing.has(id) && !persons.has(person);
    persons.add(person);
    return isFirst;
  });
  const ids = new Set(accepted.map(({ id }) => id));
  const others = ready.filter(({ id }) => !ids.has(id));
  await skipRecipients(
    trx,
    others.map(({ id }) => ({ id, reason: "duplicate" })),
  );
  return accepted;
}

/** The address of a recipient, and the person behind it: by phone in one format, else by LID. */
function namesOf({ jid }: ConversationRef): { jid: string; person: string } {
  const phone = phoneOfJid(jid);
  return { jid, person: phone === null ? jid : canonicalNumberOf(phone) };
}

/** Marks skipped recipients, as far as they still wait. */
export async function skipRecipients(trx: Trx, skipped: RecipientChoice["skipped"]): Promise<void> {
  if (skipped.length === 0) return;
  await sql`
    with waiting as (
      select r.id, x.reason from campaign_recipient r
      join jsonb_to_recordset(${JSON.stringify(skipped)}::jsonb) as x (id bigint, reason text) on x.id = r.id
      where r.status = 'pending' order by r.id for update of r
    )
    update campaign_recipient r set status = 'skipped', reason = w.reason, decided_at = now()
    from waiting w where r.id = w.id`.execute(trx);
}

/**
 * Queues one message per waiting recipient at its moment: recipient, message and job in one commit. The
 * caller has locked the campaign. False: the account's monthly quota is used up, and some recipients were
 * left.
 */
export async function queueRecipients(
  trx: Trx,
  campaign: CampaignRow,
  instance: CampaignInstance,
  planned: readonly { recipient: ReadyRecipient; at: Date }[],
): Promise<boolean> {
  const free = await lockWaiting(
    trx,
    planned.map(({ recipient }) => recipient.id),
  );
  const going = planned.filter(({ recipient }) => free.has(recipient.id));
  if (going.length === 0) return true;
  const accepted = await insertMessages(
    trx,
    going.map(({ recipient, at }) => toMessage(campaign, instance, recipient, at)),
  );
  const queued = going.flatMap(({ recipient, at }, index) => {
    const row = accepted[index];
    const { person } = namesOf(recipient.conversation);
    return row && "id" in row ? [{ id: recipient.id, message: row.id, at, person }] : [];
  });
  await sql`
    update campaign_recipient r set status = 'queued', reason = null, message = x.message, planned_at = x.at,
      person = x.person
    from jsonb_to_recordset(${JSON.stringify(queued)}::jsonb)
      as x (id bigint, message bigint, at timestamptz, person text)
    where r.id = x.id`.execute(trx);
  return queued.length === going.length;
}

async function lockWaiting(trx: Trx, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    select id from campaign_recipient where id = any(${ids}::bigint[]) and status = 'pending'
    order by id for update`.execute(trx);
  return new Set(rows.map(({ id }) => id));
}

function toMessage(
  campaign: CampaignRow,
  { id: instance_id, account_id, lane, max_messages }: CampaignInstance,
  { id, text, conversation }: ReadyRecipient,
  run_at: Date,
): NewMessage {
  const content = contentOf(campaign, text);
  return {
    account_id,
    instance_id,
    lane,
    max_messages,
    content,
    run_at,
    conversation_id: conversation.id,
    message_id: newMessageId(),
    job_id: `job_${ulid()}`,
    jid: conversation.jid,
    origin: "campaign",
    mode: "async",
    type: content.kind === "media" ? content.media_type : content.kind,
    client_message_id: null,
    track_id: null,
    metadata: { campaign_id: campaign.id, recipient_id: id },
    delay_ms: null,
    hold_ms: null,
    idempotency: null,
  };
}

function contentOf({ media }: CampaignRow, text: string): StoredContent {
  if (!media) return { kind: "text", text };
  return { ...media, ...(text.trim() !== "" && { caption: text }) };
}
