import { sql } from "kysely";
import type { QuickReplyChat } from "../../core/messages/messages.ts";
import { phoneJid } from "../../network/jid.ts";
import type { Db } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { numberVariantsOf } from "../../platform/phone/number-variants.ts";
import {
  fillKnown,
  LONGEST_MESSAGE,
  type RecipientFacts,
  variablesOf,
} from "../../platform/text/render-template.ts";
import { findQuickReply, type QuickReply } from "./quick-replies.ts";

/** The quick reply with what is known of the chat's person in place of its variables. */
export async function findFilledReply(
  db: Db,
  chat: QuickReplyChat,
  text: string,
): Promise<QuickReply | undefined> {
  const reply = await findQuickReply(db, chat.account_id, text);
  if (!reply || variablesOf(reply.content).length === 0) return reply;
  const content = fillKnown(reply.content, await readFacts(db, chat));
  if (content.length > LONGEST_MESSAGE)
    throw invalidField("quick_reply", "is too long when it is filled in", "too_long", {
      max: LONGEST_MESSAGE,
    });
  return { ...reply, content };
}

async function readFacts(
  db: Db,
  { account_id, instance_id, recipient: { jid, phone } }: QuickReplyChat,
): Promise<RecipientFacts> {
  const jids = phone === null ? [jid] : numberVariantsOf(phone).map(phoneJid);
  const { rows } = await sql<Omit<RecipientFacts, "variables">>`
    select coalesce(p.name, p.push_name, p.verified_name, g.subject, c.title) as contact_name,
      coalesce(p.phone, ${phone}::text, '') as phone, to_jsonb(l) as lead
    from (select) as one
    left join lateral (select * from contact where instance_id = ${instance_id}
      and (jid = any(${jids}::text[]) or lid = ${jid}) order by id limit 1) p on true
    left join group_chat g on g.instance_id = ${instance_id} and g.jid = ${jid}
    left join lateral (select title from conversation where instance_id = ${instance_id}
      and jid = any(${jids}::text[]) and title is not null limit 1) c on true
    left join lateral (select name, email, custom_fields from lead where account_id = ${account_id}
      and phone is not null and canonical_number(phone) = canonical_number(coalesce(p.phone, ${phone}::text))) l on true`.execute(
    db,
  );
  return { phone: "", lead: null, contact_name: null, ...rows[0], variables: {} };
}
