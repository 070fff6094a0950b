import { sql } from "kysely";
import { addLane } from "../../engine/lane-store.ts";
import type { Trx } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { asMeant } from "../../platform/http/input/as-meant.ts";
import { createIssueDescriber } from "../../platform/http/input/describe-issue.ts";
import { invalidInput } from "../../platform/http/input/invalid-input.ts";
import { resolveAliases } from "../../platform/http/input/resolve-aliases.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";
import { cleanJson } from "../../platform/text/clean-text.ts";
import { parseUrlOrigin } from "../../platform/urls/parse-url-origin.ts";
import { makeRetriesDue } from "./delivery/resume-deliveries.ts";
import type {
  IntegrationDeps,
  IntegrationDraft,
  IntegrationProvider,
  PreparedIntegration,
} from "./integration-provider.ts";
import { type IntegrationRow, lanesOf, selectIntegrations } from "./integration-row.ts";
import { isMaskOf } from "./mask-secret.ts";

/** An integration in a request: the fields of its configuration are in `config` or at the top level. */
export interface SaveIntegrationInput extends Record<string, unknown> {
  id: number;
  provider: string;
  enabled?: boolean;
  config?: Record<string, unknown>;
}

/**
 * Merges the request into the saved integration; checks every field, and that the gateway may call the URL.
 */
export async function readIntegrationDraft(
  { outgoing }: Pick<IntegrationDeps, "outgoing">,
  provider: IntegrationProvider,
  input: SaveIntegrationInput,
  owner: { account_id: number; before: IntegrationDraft["before"] },
): Promise<IntegrationDraft> {
  const { id: instance_id, provider: _, enabled, config, ...flat } = input;
  const { before } = owner;
  const requested = cleanJson(config ?? flat);
  const isSame = Object.keys(requested).length === 0 && before !== undefined;
  const fields = isSame ? before.config : readFields(provider, requested, before);
  const settings = asMeant(provider.config, fields, "PUT");
  const parsed = provider.config.safeParse(settings, { error: createIssueDescriber() });
  if (!parsed.success) throw invalidInput(parsed.error.issues, settings);
  const issue = await outgoing.findBlockReason(String(parsed.data[provider.address]));
  if (issue) throw invalidField(provider.address, issue, "blocked_address");
  return { ...owner, instance_id, enabled: enabled ?? before?.enabled ?? true, config: parsed.data };
}

/** A secret in its masked form stays unchanged, unless it would go to another origin. */
function readFields(
  provider: IntegrationProvider,
  requested: Record<string, unknown>,
  before: IntegrationDraft["before"],
): Record<string, unknown> {
  const fields = resolveAliases(requested, provider.aliases);
  for (const name of provider.secrets) {
    if (fields[name] === "" || fields[name] === null) delete fields[name];
    if (!isMaskOf(fields[name], before?.secrets[name])) continue;
    if (parseUrlOrigin(fields[provider.address]) !== parseUrlOrigin(before?.config[provider.address]))
      throw invalidField(name, "must be sent again when the address changes", "send_again");
    fields[name] = before?.secrets[name];
  }
  return fields;
}

/** Writes the integration, and its lanes if it is new; the caller has locked the instance's row. */
export async function writeIntegration(
  trx: Trx,
  { box }: Pick<IntegrationDeps, "box">,
  provider: IntegrationProvider,
  draft: IntegrationDraft,
  prepared: PreparedIntegration,
): Promise<IntegrationRow> {
  const { account_id, instance_id, enabled } = draft;
  const { config = draft.config } = prepared;
  const before = await selectIntegrations(trx, instance_id)
    .where("provider", "=", provider.name)
    .forUpdate()
    .executeTakeFirst();
  const { shown, secrets } = separate(provider, config);
  const id = before?.id ?? (await nextId(trx));
  const { events, exclude } = provider.wants(config);
  const columns = {
    enabled,
    event_names: events,
    exclude,
    config: JSON.stringify(shown),
    secret: sealSecrets(box, id, { ...secrets, ...prepared.secrets }),
    state: JSON.stringify(prepared.state ?? {}),
  };
  if (before) {
    if (prepared.isElsewhere) await deleteTheirIds(trx, id);
    return changeRow(trx, id, columns);
  }
  return trx
    .insertInto("integration")
    .values({
      ...columns,
      id,
      account_id,
      instance_id,
      provider: provider.name,
      lane: await addLane(trx, "integration", String(id)),
      inbound_lane: provider.wantsEvents ? await addLane(trx, "integration", `${id}:inbound`) : null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

function separate(provider: IntegrationProvider, config: Record<string, unknown>) {
  const isSecret = ([name]: [string, unknown]) => provider.secrets.includes(name);
  const fields = Object.entries(config);
  return {
    shown: Object.fromEntries(fields.filter((field) => !isSecret(field))),
    secrets: Object.fromEntries(fields.filter(isSecret).filter(([, value]) => value !== undefined)),
  };
}

function sealSecrets(box: SecretBox, id: number, secrets: Record<string, unknown>): Buffer | null {
  if (Object.keys(secrets).length === 0) return null;
  return box.seal(JSON.stringify(secrets), encryptionContextOf("integration", "secret", id));
}

async function nextId(trx: Trx): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('integration', 'id')) as id`.execute(trx);
  return Number(rows[0]?.id);
}

type Columns = Pick<IntegrationRow, "enabled" | "event_names" | "exclude" | "secret"> & {
  config: string;
  state: string;
};

/** A save means that a user has looked into the problem, so all waiting jobs are retried at once. */
async function changeRow(trx: Trx, id: number, columns: Columns): Promise<IntegrationRow> {
  const row = await trx
    .updateTable("integration")
    .set({
      ...columns,
      status: "unknown",
      last_error: null,
      last_error_code: null,
      last_error_params: null,
      last_error_at: null,
      paused_until: null,
      refused_since: null,
      updated_at: sql<Date>`now()`,
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await trx
    .updateTable("integration_chat")
    .set({ replies: 0, replies_since: null, pauses: 0, replies_paused_until: null })
    .where("integration_id", "=", id)
    .where("replies_paused_until", "is not", null)
    .execute();
  await makeRetriesDue(trx, row);
  return row;
}

/** Keeps the links, so that nothing is sent twice, but deletes the other side's ids. */
async function deleteTheirIds(trx: Trx, integrationId: number): Promise<void> {
  await trx
    .updateTable("integration_link")
    .set({ provider_conversation_id: null, provider_message_id: null })
    .where("integration_id", "=", integrationId)
    .where("provider_conversation_id", "is not", null)
    .execute();
}

/** Removes the integration with its lanes, their jobs and its stored data. */
export async function removeIntegration(trx: Trx, row: IntegrationRow): Promise<void> {
  const { id } = row;
  const lanes = lanesOf(row).sort((a, b) => a - b);
  await trx.selectFrom("lane").select("id").where("id", "in", lanes).orderBy("id").forUpdate().execute();
  await trx.deleteFrom("integration").where("id", "=", id).execute();
  await trx.deleteFrom("job").where("lane", "in", lanes).execute();
  await trx.deleteFrom("lane").where("id", "in", lanes).execute();
  await trx.deleteFrom("integration_chat").where("integration_id", "=", id).execute();
}
