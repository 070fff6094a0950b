import { type RawBuilder, sql } from "kysely";

/** How long recipients of a completed campaign with a file can be retried. */
const RETRIED_FOR = sql`interval '7 days'`;

/** Whether a campaign still needs the outgoing file with this id. */
export function isFileOfCampaign(file: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`exists (select from campaign c where c.media ->> 'shared' = ${file}
    and (c.status not in ('completed', 'cancelled', 'failed')
      or (c.status = 'completed' and c.ended_at > now() - ${RETRIED_FOR})))`;
}
