import { type RawBuilder, sql } from "kysely";
import type { SendGuard } from "../../core/statement-hooks.ts";
import { withdrawSend } from "./withdraw-sends.ts";

/**
 * A message of a campaign is not submitted after a pause or cancellation, or to a person other than the chosen one. A
 * pause or cancellation waits for this lock; a step of the campaign, which queues more sends, does not.
 */
export const campaignSendGuard: SendGuard = {
  lock: sql`
    select c.id from campaign c
    where c.status = 'running'
      and c.id in (select r.campaign_id from campaign_recipient r join input x on x.id = r.message)
    order by c.id for key share`,
  allows: (jid) => sql`exists (
    select from campaign_recipient r join guarded c on c.id = r.campaign_id
    where r.message = m.id and (m.submitted_at is not null or r.person is null or r.person = ${personAt(jid)}))`,
  withdraw: withdrawSend,
};

/** Identifies the person to whom a campaign writes at most once: by phone in one format, else by LID. */
function personAt(jid: RawBuilder<unknown>) {
  return sql`case when ${jid} like '%@s.whatsapp.net' then canonical_number(split_part(${jid}, '@', 1)) else ${jid} end`;
}
