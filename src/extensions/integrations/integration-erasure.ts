import { sql } from "kysely";
import {
  type Anonymisation,
  type AnonymisationBatch,
  type ErasureSteps,
  isAddressOf,
} from "../../core/personal-data/personal-data.ts";
import type { Trx } from "../../platform/db/database.ts";

/** What integrations have of one person beside their chats. */
export const INTEGRATION_ERASURE: ErasureSteps = {
  async eraseTexts(trx, messageIds) {
    await sql`
      with linked as (
        select l.id from message m join integration g on g.instance_id = m.instance_id
        join integration_link l on l.integration_id = g.id and l.message_id = m.message_id
        where m.id = any(${messageIds}::bigint[]) and l.error is not null
        order by l.id for update of l
      )
      update integration_link set error = null where id in (select id from linked)`.execute(trx);
  },
  erase: [{ name: "integration", parts: ["conversations"], only: "person", runBatch: leaveIntegrations }],
};

async function leaveIntegrations(
  trx: Trx,
  { account_id, person }: Anonymisation,
): Promise<AnonymisationBatch> {
  if (!person) return { rows: 0, after: null };
  const written = person.addresses.flatMap((address) => [address, `+${address}`]);
  const { numAffectedRows = 0n } = await sql`
    update integration g set last_error = null, config = case when config ? 'ignore_jids'
      then jsonb_set(config, '{ignore_jids}', (config -> 'ignore_jids') - ${written}::text[]) else config end
    where account_id = ${account_id} and (config -> 'ignore_jids' ?| ${written}::text[] or exists (
      select from integration_link l where l.integration_id = g.id and ${isAddressOf(sql`l.chat`, person)}))`.execute(
    trx,
  );
  return { rows: Number(numAffectedRows), after: null };
}
