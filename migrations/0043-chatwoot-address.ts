import { type Kysely, sql } from "kysely";

/** The address that Chatwoot calls ends with a secret, which is sealed already: in plain text it stays without it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    update integration
    set state = (state - 'webhook_url')
      || jsonb_build_object('webhook_base', regexp_replace(state->>'webhook_url', '[^/]*$', ''))
    where provider = 'chatwoot' and state ? 'webhook_url'`.execute(db);
}
