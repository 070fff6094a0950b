import { sql } from "kysely";
import type { Job, JobResult, LaneKind } from "../../engine/engine.ts";
import type { Db } from "../../platform/db/database.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import { type ChatwootPathTokens, createChatwootPathTokens } from "./chatwoot/chatwoot-path-tokens.ts";
import { createChatwootProvider } from "./chatwoot/chatwoot-provider.ts";
import type { integrationsContract } from "./contract.ts";
import { createIntegrationHealth } from "./delivery/integration-health.ts";
import { createWorkLoader, type IntegrationRef, type LoadedEvent } from "./delivery/work-loader.ts";
import type { EventWork, IntegrationDeps, Providers } from "./integration-provider.ts";
import { openIntegration } from "./integration-row.ts";
import { integrationHandlers } from "./integrations.ts";
import { createN8nProvider } from "./n8n/n8n-provider.ts";
import { createTypebotProvider } from "./typebot/typebot-provider.ts";

const ROWS_AT_ONCE = 5_000;

/** Chats of one integration that are processed concurrently. */
const WIDTH = 8;

/** Some requests take a minute. */
const BUDGET = 256;

/** The integrations of this node, as other parts of the process use them. */
export interface NodeIntegrations {
  handlers: Handlers<typeof integrationsContract>;
  lane: LaneKind;
  /** Verifies the tokens in the URLs that other sides call. */
  pathTokens: ChatwootPathTokens;
  /** Deletes expired data. */
  tidy(): Promise<void>;
}

export interface NodeIntegrationsOptions extends Omit<IntegrationDeps, "pathTokens" | "health"> {
  /** For what requests ask; `db` is for the lanes. */
  requestDb: Db;
}

export function createNodeIntegrations({ requestDb, ...options }: NodeIntegrationsOptions): NodeIntegrations {
  const pathTokens = createChatwootPathTokens({ ...options, db: requestDb });
  const deps = { ...options, pathTokens, health: createIntegrationHealth(options) };
  const providers = createProviders(deps);
  return {
    handlers: integrationHandlers({ ...deps, db: requestDb }, providers),
    lane: integrationLane(deps, providers),
    pathTokens,
    tidy: () => deleteStaleIntegrationData(deps.db),
  };
}

/** All integrations that an instance can have. */
export function createProviders(deps: IntegrationDeps): Providers {
  return {
    n8n: createN8nProvider(deps),
    typebot: createTypebotProvider(deps),
    chatwoot: createChatwootProvider(deps),
  };
}

/** The lanes of integrations: events of one chat are sent sequentially, and different chats concurrently. */
function integrationLane({ db, box }: IntegrationDeps, providers: Providers): LaneKind {
  const loader = createWorkLoader(db);

  async function run(job: Job): Promise<JobResult> {
    const ref = job.ref as IntegrationRef;
    const loaded = await loader.load(ref);
    const provider = loaded && providers[loaded.integration.provider];
    if (!loaded || !provider) return { end: "done" };
    const integration = openIntegration(loaded.integration, box);
    if (ref.do === "task") {
      if (!provider.onTask) throw new Error(`${provider.name} has no tasks`);
      return provider.onTask({ job, integration, task: ref.task });
    }
    if (!loaded.event) return { end: "done" };
    return provider.onEvent({ job, integration, event: toEvent(loaded.event) });
  }

  return { kind: "integration", role: "worker", laneConcurrency: WIDTH, nodeConcurrency: BUDGET, run };
}

function toEvent({ created_at: recorded_at, ...event }: LoadedEvent): EventWork["event"] {
  const { data } = JSON.parse(event.body.toString("utf8")) as { data: unknown };
  return { ...event, recorded_at, data };
}

/** Deletes the data of removed integrations, and data that is too old to be needed again. */
async function deleteStaleIntegrationData(db: Db): Promise<void> {
  const isOrphan = (table: string) =>
    sql`not exists (select from integration g where g.id = ${sql.table(table)}.integration_id)`;
  const pieces = [
    pieceOf(
      "integration_link",
      sql`created_at < now() - interval '90 days' or ${isOrphan("integration_link")}`,
    ),
    pieceOf(
      "integration_inbound",
      sql`created_at < now() - interval '7 days' or ${isOrphan("integration_inbound")}`,
    ),
    pieceOf("integration_chat", sql`${isOrphan("integration_chat")}`),
  ];
  for (const piece of pieces) {
    let removed = 0n;
    do {
      removed = (await piece.execute(db)).numAffectedRows ?? 0n;
    } while (removed > 0n);
  }
}

function pieceOf(table: string, isOver: ReturnType<typeof sql>) {
  return sql`delete from ${sql.table(table)} where ctid = any(array(
    select ctid from ${sql.table(table)} where ${isOver} limit ${ROWS_AT_ONCE}))`;
}
