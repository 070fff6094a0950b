import { type AuditActor, fieldNamesOf, recordAudit } from "../../core/audit/audit.ts";
import { getInstance, lockInstance } from "../../core/instances/instances.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import { createTestLimit } from "../../platform/http/limit-tests.ts";
import { parseUrlOrigin } from "../../platform/urls/parse-url-origin.ts";
import { receiveWebhook } from "./chatwoot/agents/receive-webhook.ts";
import type { integrationsContract } from "./contract.ts";
import { resumeDeliveries } from "./delivery/resume-deliveries.ts";
import type {
  IntegrationDeps,
  IntegrationDraft,
  IntegrationProvider,
  PreparedIntegration,
  Providers,
} from "./integration-provider.ts";
import {
  type Integration,
  type IntegrationRow,
  lanesOf,
  openIntegration,
  type QueuedIntegration,
  readQueuedIntegrations,
} from "./integration-row.ts";
import { maskSecret } from "./mask-secret.ts";
import { readIntegrationDraft, removeIntegration, writeIntegration } from "./save-integration.ts";

type LastResponses = Pick<IntegrationRow, "status" | "last_error_at" | "last_success_at">;

type IntegrationHandlers = Handlers<typeof integrationsContract>;

export function integrationHandlers(deps: IntegrationDeps, providers: Providers): IntegrationHandlers {
  const { db, box } = deps;
  const allow = createTestLimit("An integration");
  return {
    async listIntegrations({ input }) {
      const before = readCursor(input.cursor) ?? Number.POSITIVE_INFINITY;
      const all = await readQueuedIntegrations(db, input.id);
      const found = all.filter((row) => row.id < before);
      const { rows, pagination } = toPage(found, input.limit, (row) => row.id);
      const data = rows.map((row) =>
        toIntegrationView(providerOf(providers, row.provider), openQueued(row, box)),
      );
      return new OkResponse(data, { beside: { pagination } });
    },

    async getIntegration({ input: { id, provider } }) {
      return readView(deps, providerOf(providers, provider), id);
    },

    async saveIntegration({ input, ...by }) {
      return save(deps, providerOf(providers, input.provider), input, by);
    },

    async deleteIntegration({ input: { id, provider }, ...by }) {
      await remove(deps, providerOf(providers, provider), id, by);
      return { provider };
    },

    async testIntegration({ input: { id, provider } }) {
      const found = await getIntegration(deps, id, provider);
      allow(found.id);
      const report = await providerOf(providers, provider).test(found);
      if (report.success) await resumeDeliveries(deps, found);
      return report;
    },

    receiveChatwoot: receiveWebhook(deps),
  };
}

function providerOf(providers: Providers, name: string): IntegrationProvider {
  const provider = providers[name];
  if (!provider) throw new GatewayError("NOT_FOUND", "There is no such provider.");
  return provider;
}

async function readView({ db, box }: IntegrationDeps, provider: IntegrationProvider, instanceId: number) {
  const rows = await readQueuedIntegrations(db, instanceId);
  const row = rows.find((one) => one.provider === provider.name);
  if (!row) throw noIntegration();
  return toIntegrationView(provider, openQueued(row, box));
}

function openQueued(row: QueuedIntegration, box: IntegrationDeps["box"]) {
  return { ...openIntegration(row, box), waiting: row.waiting, paused_chats: row.paused_chats };
}

async function getIntegration(
  deps: Pick<IntegrationDeps, "db" | "box">,
  instanceId: number,
  provider: string,
): Promise<Integration> {
  const found = await findIntegration(deps, instanceId, provider);
  if (!found) throw noIntegration();
  return found;
}

function noIntegration(): GatewayError {
  return new GatewayError("NOT_FOUND", "This integration is not configured. Save its settings first.");
}

/** The integration of an instance with its secrets. */
export async function findIntegration(
  { db, box }: Pick<IntegrationDeps, "db" | "box">,
  instanceId: number,
  provider: string,
): Promise<Integration | undefined> {
  const row = await db
    .selectFrom("integration")
    .selectAll()
    .where("instance_id", "=", instanceId)
    .where("provider", "=", provider)
    .executeTakeFirst();
  return row && openIntegration(row, box);
}

type SaveRequest = Parameters<IntegrationHandlers["saveIntegration"]>[0]["input"];

async function save(
  deps: IntegrationDeps,
  provider: IntegrationProvider,
  input: SaveRequest,
  by: AuditActor,
) {
  const { db, engine } = deps;
  const { account_id } = await getInstance(db, input.id);
  const before = await findIntegration(deps, input.id, provider.name);
  const draft = await readIntegrationDraft(deps, provider, input, { account_id, before });
  const prepared = draft.enabled
    ? ((await provider.prepare?.(draft)) ?? {})
    : unchangedState(provider, draft);
  const row = await db.transaction().execute(async (trx) => {
    // Concurrent saves run sequentially.
    await lockInstance(trx, input.id);
    const written = await writeIntegration(trx, deps, provider, draft, prepared);
    const fields = fieldNamesOf(input, "id", "provider");
    const target = { type: "integration", id: provider.name };
    await recordAudit(trx, { by, action: "integration.save", target, account_id, fields });
    return written;
  });
  deps.pathTokens.invalidate(input.id);
  engine.wake(lanesOf(row), { changed: true });
  if (before?.enabled && !draft.enabled) await provider.unregister?.(before);
  return { ...(await readView(deps, provider, input.id)), warnings: prepared.warnings ?? [] };
}

/** What the other side reported is still valid while the integration is off, but not for another URL. */
function unchangedState(
  provider: IntegrationProvider,
  { before, config }: IntegrationDraft,
): PreparedIntegration {
  if (!before || parseUrlOrigin(config[provider.address]) !== parseUrlOrigin(before.config[provider.address]))
    return {};
  const own = Object.entries(before.secrets).filter(([name]) => !provider.secrets.includes(name));
  return { state: before.state, secrets: Object.fromEntries(own), warnings: [] };
}

async function remove(
  deps: IntegrationDeps,
  provider: IntegrationProvider,
  instanceId: number,
  by: AuditActor,
): Promise<void> {
  const { db, box, engine } = deps;
  const row = await db.transaction().execute(async (trx) => {
    const found = await trx
      .selectFrom("integration")
      .selectAll()
      .where("instance_id", "=", instanceId)
      .where("provider", "=", provider.name)
      .executeTakeFirstOrThrow(noIntegration);
    await removeIntegration(trx, found);
    const target = { type: "integration", id: provider.name };
    await recordAudit(trx, { by, action: "integration.delete", target, account_id: found.account_id });
    return found;
  });
  engine.wake(lanesOf(row), { changed: true });
  deps.pathTokens.invalidate(instanceId);
  if (row.enabled) await provider.unregister?.(openIntegration(row, box));
}

/** The integration as the API shows it. */
function toIntegrationView(
  provider: IntegrationProvider,
  row: Integration & Pick<QueuedIntegration, "waiting" | "paused_chats">,
) {
  const masked = provider.secrets.flatMap((name) => {
    const secret = row.secrets[name];
    return secret === undefined ? [] : [[name, maskSecret(secret)]];
  });
  const shown = Object.entries(row.config).filter(([name]) => row.secrets[name] === undefined);
  return {
    ...row,
    provider: provider.name,
    config: Object.fromEntries([...shown, ...masked]),
    has_token: row.secrets[provider.secrets[0] ?? ""] !== undefined,
    last_error_is_past: isPast(row),
    paused_until: row.paused_until && row.paused_until > new Date() ? row.paused_until : null,
  };
}

function isPast({ status, last_error_at, last_success_at }: LastResponses): boolean {
  return (
    status === "ok" && last_error_at !== null && last_success_at !== null && last_success_at > last_error_at
  );
}
