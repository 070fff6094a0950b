import type { EventWork, IntegrationDeps } from "../integration-provider.ts";
import type { TypebotConfig } from "./typebot-config.ts";

/** Variables that a flow gets at its start, if it declares these names. */
export async function prefilledVariables(
  { db, baseUrl }: Pick<IntegrationDeps, "db" | "baseUrl">,
  { integration, event }: EventWork,
  { variables }: TypebotConfig,
  text: string,
): Promise<Record<string, unknown>> {
  const { message } = event.data;
  const { name, jid } = await db
    .selectFrom("instance")
    .select(["name", "jid"])
    .where("id", "=", integration.instance_id)
    .executeTakeFirstOrThrow();
  return {
    remoteJid: message.jid,
    phone: message.phone ?? "",
    pushName: message.sender?.push_name ?? "",
    instanceId: integration.instance_id,
    instanceName: name,
    ownerJid: jid ?? "",
    serverUrl: baseUrl,
    messageType: message.type,
    messageId: message.message_id,
    firstMessage: text,
    isGroup: message.is_group,
    ...variables,
  };
}
