import { type Selectable, sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";
import type { IntegrationTable } from "../../tables.ts";

export type IntegrationRow = Selectable<IntegrationTable>;

/** An integration as providers use it: `config` includes its secrets. */
export interface Integration extends Omit<IntegrationRow, "secret"> {
  /** All secrets, also those that did not come from the user. */
  secrets: Record<string, string>;
}

export function openIntegration({ secret, ...row }: IntegrationRow, box: SecretBox): Integration {
  const secrets = openSecrets({ id: row.id, secret }, box);
  return { ...row, config: { ...row.config, ...secrets }, secrets };
}

function openSecrets(
  { id, secret }: Pick<IntegrationRow, "id" | "secret">,
  box: SecretBox,
): Record<string, string> {
  if (secret === null) return {};
  return JSON.parse(box.open(secret, encryptionContextOf("integration", "secret", id))) as Record<
    string,
    string
  >;
}

/** The lanes of an integration. */
export function lanesOf({ lane, inbound_lane }: Pick<IntegrationRow, "lane" | "inbound_lane">): number[] {
  return inbound_lane === null ? [lane] : [lane, inbound_lane];
}

export function selectIntegrations(db: Db | Trx, instanceId: number) {
  return db.selectFrom("integration").selectAll().where("instance_id", "=", instanceId);
}

export interface PausedChat {
  chat: string;
  paused_until: Date;
  pauses: number;
}

export type QueuedIntegration = IntegrationRow & { waiting: number; paused_chats: PausedChat[] };

const PAUSED_CHATS = sql<(Omit<PausedChat, "paused_until"> & { paused_until: string })[]>`(
  select coalesce(json_agg(json_build_object('chat', p.chat, 'paused_until', p.replies_paused_until, 'pauses', p.pauses)), '[]')
  from (select chat, replies_paused_until, pauses from integration_chat
    where integration_id = integration.id and replies_paused_until > now()
    order by replies_paused_until desc limit 50) p)`;

/** Integrations with the number of their waiting jobs, newest first; at most one of each provider. */
export async function readQueuedIntegrations(db: Db, instanceId: number): Promise<QueuedIntegration[]> {
  const rows = await selectIntegrations(db, instanceId)
    .select(
      sql<number>`(select count(*) from job where lane in (integration.lane, integration.inbound_lane))`.as(
        "waiting",
      ),
    )
    .select(PAUSED_CHATS.as("paused_chats"))
    .orderBy("id", "desc")
    .execute();
  return rows.map(({ paused_chats, ...row }) => ({
    ...row,
    paused_chats: paused_chats.map((one) => ({ ...one, paused_until: new Date(one.paused_until) })),
  }));
}
