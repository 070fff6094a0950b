import { sql } from "kysely";
import { isReachedPerson } from "../../../core/contacts/contacts.ts";
import { createPause } from "../../../platform/create-pause.ts";
import type { Db } from "../../../platform/db/database.ts";
import { type Reach, wholeAccount } from "../../../platform/reach.ts";
import {
  createRenderer,
  LONGEST_MESSAGE,
  type RecipientFacts,
  valuesOf,
} from "../../../platform/text/render-template.ts";
import { findConsenting, type SuppressionList } from "../../consent/consent.ts";
import type { CampaignRow } from "../campaign-row.ts";

/** A waiting recipient, with their rendered text. */
export interface RecipientCandidate {
  id: number;
  phone: string;
  text: string;
}

/** Why a recipient is skipped. */
export type SkipReason = "opted_out" | "no_consent" | "empty_message" | "message_too_long" | "duplicate";

export interface RecipientChoice {
  ready: RecipientCandidate[];
  skipped: { id: number; reason: SkipReason }[];
}

/** Recipients read at once; large because most of them may be skipped. */
const SCANNED = 100;

/** The next recipients up to a limit, and the skipped ones before them. */
export async function chooseRecipients(
  { db, suppression }: { db: Db; suppression: SuppressionList },
  campaign: CampaignRow,
  { count, onlyKnownChats }: { count: number; onlyKnownChats: boolean },
): Promise<RecipientChoice> {
  const waiting = await findWaitingRecipients(db, campaign, {
    limit: Math.max(count, SCANNED),
    onlyKnownChats,
  });
  const phones = waiting.map(({ phone }) => phone);
  const { account_id, consent_purpose } = campaign;
  const suppressed = await suppression.findListed(db, account_id, phones);
  const consenting = consent_purpose && (await findConsenting(db, account_id, consent_purpose, phones));
  const choice: RecipientChoice = { ready: [], skipped: [] };
  const render = createRenderer(campaign.message_template);
  const pause = createPause();
  for (const recipient of waiting) {
    if (choice.ready.length >= count) break;
    await pause();
    const { id, phone } = recipient;
    const text = render(valuesOf(recipient));
    const reason = suppressed.has(phone)
      ? "opted_out"
      : consenting && !consenting.has(phone)
        ? "no_consent"
        : faultOf(text, campaign);
    if (reason) choice.skipped.push({ id, reason });
    else choice.ready.push({ id, phone, text });
  }
  return choice;
}

function faultOf(text: string, { media }: CampaignRow): SkipReason | undefined {
  if (text.length > LONGEST_MESSAGE) return "message_too_long";
  return text.trim() === "" && !media ? "empty_message" : undefined;
}

export interface WaitingRecipient extends RecipientFacts {
  id: number;
}

export interface FindWaitingOptions {
  limit: number;
  /** Leaves out recipients in whose chat no message was ever sent or received. */
  onlyKnownChats?: boolean;
  /** Digits, in any format. */
  phone?: string;
  /** Only leads within reach fill in variables; default: all of the account. */
  reach?: Reach;
}

/** Waiting recipients in their order, with the data for their variables. */
export async function findWaitingRecipients(
  db: Db,
  { id, account_id, instance_id }: CampaignRow,
  { limit, onlyKnownChats = false, phone, reach = wholeAccount(account_id) }: FindWaitingOptions,
): Promise<WaitingRecipient[]> {
  const isKnown = sql`exists (
    select from conversation c join message m on m.conversation_id = c.id
    where c.account_id = r.account_id and c.instance_id = ${instance_id} and c.phone = any(number_variants(r.phone))
      and (m.direction = 'inbound' or m.status in ('delivered', 'read', 'played')))`;
  const { rows } = await sql<WaitingRecipient>`
    select r.id, r.phone, r.variables, r.contact_name, to_jsonb(l) as lead
    from (
      select r.*, (select p.push_name from contact p where p.instance_id = ${instance_id} and p.push_name is not null
          and p.jid in (select one || '@s.whatsapp.net' from unnest(number_variants(r.phone)) one) limit 1) as contact_name
      from campaign_recipient r
      where r.campaign_id = ${id} and r.status = 'pending'
        ${phone === undefined ? sql`` : sql`and canonical_number(r.phone) = canonical_number(${phone})`}
        ${onlyKnownChats ? sql`and ${isKnown}` : sql``}
      order by r.id limit ${limit}
    ) r
    left join lateral (
      select name, email, custom_fields from lead
      where account_id = r.account_id and phone is not null and canonical_number(phone) = canonical_number(r.phone)
        and ${isReachedPerson(reach, { phone: sql`r.phone` })}
    ) l on true
    order by r.id`.execute(db);
  return rows;
}
