import { setTimeout as delay } from "node:timers/promises";
import { contract } from "../contract.ts";
import type { Engine } from "../engine/engine.ts";
import { type AccessTokens, createAccessTokens } from "../core/accounts/access-tokens.ts";
import { accountHandlers } from "../core/accounts/account-handlers.ts";
import { type AccessControl, createAuthorise } from "../core/accounts/authorise.ts";
import { createPasswordHasher } from "../core/accounts/password-hasher.ts";
import { createRateLimits } from "../core/accounts/rate-limits.ts";
import { createSignInHandlers } from "../core/accounts/sign-in.ts";
import { adminHandlers } from "../extensions/admin/admin.ts";
import { readQueues } from "../extensions/admin/read-queues.ts";
import { backupHandlers } from "../extensions/backups/backups.ts";
import type { BackupDeps } from "../extensions/backups/run-backup.ts";
import { campaignHandlers } from "../extensions/campaigns/campaigns.ts";
import { chatHandlers } from "../core/chats/chats.ts";
import type { ClientVersionUpdater } from "../core/client-version/client-version-updater.ts";
import { registerVersionMetrics } from "../core/client-version/register-version-metrics.ts";
import type { SuppressionList } from "../extensions/consent/consent.ts";
import { consentHandlers } from "../extensions/consent/consent-handlers.ts";
import {
  type Conversations,
  contactHandlers,
  createCountryFinder,
  type FindCountry,
} from "../core/contacts/contacts.ts";
import { crmHandlers } from "../extensions/crm/crm.ts";
import { eventHandlers } from "../core/events/event-handlers.ts";
import { groupHandlers } from "../core/groups/groups.ts";
import { createHealthChecks, type HealthChecks } from "../core/health/create-health-checks.ts";
import { healthHandlers } from "../core/health/health.ts";
import { registerHealthMetrics } from "../core/health/register-health-metrics.ts";
import { instanceLogsHandlers } from "../core/instance-logs/instance-logs.ts";
import { createRequestLog } from "../core/instance-logs/request-log.ts";
import { instanceHandlers } from "../core/instances/instances.ts";
import type { NodeIntegrations } from "../extensions/integrations/node-integrations.ts";
import { linkingHandlers } from "../extensions/linking/linking.ts";
import { mediaHandlers } from "../core/media/media-handlers.ts";
import type { NodeMedia } from "../core/media/open-media.ts";
import { messageHandlers } from "../core/messages/messages.ts";
import { createOutcomeWatch, type OutcomeWatch } from "../core/messages/send/outcome/outcome-watch.ts";
import { createInstanceReader, requireConnected } from "../core/messages/send/sending-instance.ts";
import { oauthHandlers } from "../extensions/oauth/oauth.ts";
import { oauthAddresses } from "../extensions/oauth/server-metadata.ts";
import { oauthWireContract } from "../extensions/oauth/wire-contract.ts";
import { PANEL_PATH, panelRoute } from "../extensions/panel/panel.ts";
import { planHandlers } from "../core/plans/plan-handlers.ts";
import { privacyHandlers } from "../extensions/privacy/privacy.ts";
import { profileHandlers } from "../core/profile/profile.ts";
import { NOT_FOUND_PAGE } from "../extensions/public-pages/home-page.ts";
import { publicPagesHandlers } from "../extensions/public-pages/public-pages.ts";
import { quickReplyHandlers } from "../extensions/quick-replies/quick-replies.ts";
import { createMediaFetcher } from "../extensions/sandbox/create-media-fetcher.ts";
import { sandboxHandlers } from "../extensions/sandbox/sandbox.ts";
import { createSessionOperationRunner } from "../core/session-operations/session-operations.ts";
import { connectInstance } from "../core/sessions/connect-instance.ts";
import { sessionHandlers } from "../core/sessions/sessions.ts";
import { createDefaultWebhook } from "../core/webhooks/change-default-webhook.ts";
import { toWebhookRecord } from "../core/webhooks/webhook-record.ts";
import { webhookHandlers } from "../core/webhooks/webhooks.ts";
import { createSandboxControl } from "../network/sandbox/sandbox-control.ts";
import { findPicture } from "../network/sandbox/world/picture-store.ts";
import type { Config } from "../platform/config/config.ts";
import type { Database } from "../platform/db/database.ts";
import type { Handlers } from "../platform/http/handler.ts";
import { createHttpServer, type HttpServer, type Readiness } from "../platform/http/http-server.ts";
import { type EventLoopLagMeter, startEventLoopLagMeter } from "../platform/http/load-shedder.ts";
import type { Log } from "../platform/log/log.ts";
import type { Metrics } from "../platform/log/metrics.ts";
import { readOpenApiFile } from "../platform/openapi/openapi-file.ts";
import type { SafeFetch } from "../platform/outgoing/safe-fetch.ts";
import type { SecretBox } from "../platform/secrets/secret-box.ts";
import type { ClusterNodes } from "./cluster-nodes.ts";
import type { SessionHost } from "./session-host.ts";

export interface ApiParts {
  config: Config;
  secretKey: string;
  database: Database;
  /** For what a request itself does. */
  requests: Database;
  sandbox: Database;
  engine: Engine;
  box: SecretBox;
  outgoing: SafeFetch;
  conversations: Conversations;
  suppression: SuppressionList;
  sessions: SessionHost;
  media: NodeMedia;
  integrations: NodeIntegrations;
  backups: BackupDeps;
  clientVersion: ClientVersionUpdater;
  nodes: ClusterNodes;
  readiness: Readiness;
  dataDir: string;
  version: string;
  log: Log;
  metrics: Metrics;
}

const LAST_ANSWERS_MS = 1_000;
const JSON_BODY_BYTES = 1_048_576;
/** Base64 takes 4 bytes for 3, plus a margin. */
const BASE64_GROWTH = 1.4;
/** Limit of large JSON bodies, such as files in base64; parsing takes several times that memory. */
const MOST_BODY_BYTES = 256 * 1_048_576;
/** Most statements waiting for a connection; each session that loses the network adds one. */
const MOST_WAITING_FOR_DATABASE = 1_000;

export interface Api extends Omit<HttpServer, "close"> {
  /** Accepts no more requests and gives running requests `graceMs` to finish. */
  close(options: { graceMs: number }): Promise<void>;
}

/** The HTTP side of this node: every route of the contract with its handler. */
export async function createApi(parts: ApiParts): Promise<Api> {
  const { config, secretKey, database, engine, log, metrics } = parts;
  const { db } = database;
  const secondKey = config.secretKeySecond?.reveal();
  const tokens = createAccessTokens({ secretKey, secondKey, lifetimeSeconds: config.jwtLifetimeSeconds });
  const access = createAccess(parts, tokens, metrics);
  const requestLog = createRequestLog({ db, log });
  const watch = createOutcomeWatch(db, engine);
  const checks = createHealthChecks(parts);
  const readPendingJobs = () => readQueues(db, undefined);
  registerHealthMetrics(metrics.registry, { database, engine, checks, readQueues: readPendingJobs });
  registerVersionMetrics(metrics.registry, () => parts.clientVersion.state());
  const lag = startEventLoopLagMeter({ ceilingMs: 2 * config.maxEventLoopDelayMs });
  const server = await createHttpServer({
    contract: { ...contract, ...oauthWireContract },
    handlers: {
      ...customerHandlers(parts, access, tokens),
      ...messagingHandlers(parts, watch),
      ...publicHandlers(parts, checks),
      mcp: async (request) => {
        const { serveMcpRequest } = await import("../mcp/serve-mcp-request.ts");
        const { resourceMetadata: resourceMetadataUrl } = oauthAddresses(config.baseUrl);
        return serveMcpRequest(request, { baseUrl: config.baseUrl, resourceMetadataUrl });
      },
    },
    authorise: access.authorise,
    log,
    metrics,
    strictOutput: !config.production,
    bodyLimitBytes: JSON_BODY_BYTES,
    trustProxy: config.trustedProxies,
    uploadLimitBytes: Math.ceil(config.mediaMaxBytes * BASE64_GROWTH) + JSON_BODY_BYTES,
    readiness: parts.readiness,
    scratchDir: parts.media.scratchDir,
    ...boundsOf(parts, lag),
    nodeRpc: parts.nodes.route,
    onResponse: requestLog.record,
    countUnauthenticated: access.countUnauthenticated,
    notFoundPage: NOT_FOUND_PAGE,
    corsOrigins: config.corsOrigins,
    isHttps: config.baseUrl.startsWith("https:"),
    files: config.panel ? panelRoute() : undefined,
  });
  return {
    ...server,
    async close({ graceMs }) {
      lag.stop();
      const closed = server.close();
      await Promise.race([closed, delay(graceMs, undefined, { ref: false })]);
      // A request that still waits for an outcome gets the response that the outcome is not known yet.
      watch.close();
      await Promise.race([closed, delay(LAST_ANSWERS_MS, undefined, { ref: false })]);
      await Promise.race([requestLog.close(), delay(LAST_ANSWERS_MS, undefined, { ref: false })]);
    },
  };
}

/** The limits above which new requests are rejected. */
function boundsOf({ config, database: { pool }, requests }: ApiParts, lag: EventLoopLagMeter) {
  return {
    maxRequests: config.maxRequests,
    maxBodyBytes: MOST_BODY_BYTES,
    loadGauges: [
      { label: "lag in milliseconds", limit: config.maxEventLoopDelayMs, read: lag.read },
      {
        label: "waiting for the database",
        limit: MOST_WAITING_FOR_DATABASE,
        read: () => pool.waitingCount + requests.pool.waitingCount + requests.waitingRequests(),
      },
    ],
  };
}

function createAccess(
  { config, requests: { db }, engine, integrations }: ApiParts,
  tokens: AccessTokens,
  { isToken }: Metrics,
): AccessControl {
  const { adminToken, adminTokenSecond, adminFrom } = config;
  const adminTokens = [adminToken, adminTokenSecond].filter((token) => token !== undefined);
  const limits = createRateLimits({
    unknownPerMinute: config.unauthenticatedRate,
    shares: () => engine.countLiveNodes("api"),
  });
  const { pathTokens } = integrations;
  return createAuthorise({
    db,
    tokens,
    adminTokens,
    adminFrom,
    engine,
    pathTokens,
    limits,
    isMetricsToken: isToken,
    resourceMetadataUrl: oauthAddresses(config.baseUrl).resourceMetadata,
  });
}

/** Handlers of accounts and instances: permissions and settings. */
function customerHandlers(parts: ApiParts, access: AccessControl, tokens: AccessTokens) {
  const { config, secretKey, requests, engine, box, outgoing } = parts;
  const { db } = requests;
  const findCountry = countryFinder(parts);
  const second = config.secretKeySecond?.reveal();
  const secrets: [string, ...string[]] = second ? [secretKey, second] : [secretKey];
  const passwords = createPasswordHasher();
  const signIn = createSignInHandlers({ db, tokens, passwords, secrets });
  const closesThisMachine = config.localTargets === "auto";
  return {
    ...accountHandlers({ db, engine, access, passwords, signIn, tokens, closesThisMachine }),
    ...oauthHandlers({ db, outgoing, baseUrl: config.baseUrl, secrets, signIn }),
    ...planHandlers(db),
    ...adminHandlers({ db, engine, closesThisMachine }),
    ...instanceLogsHandlers(db),
    ...privacyHandlers({ db, engine, box, findCountry }),
    ...consentHandlers({ db, findCountry }),
    ...instanceHandlers({
      db,
      // An idle gateway needs none of the transports of sessions.
      reachNetwork: async (proxy, lookup, signal) => {
        const { reachNetwork } = await import("../network/whatsapp/session-transport.ts");
        await reachNetwork({ proxy, lookup }, { signal, url: config.whatsappUrl });
      },
      engine,
      box,
      outgoing,
      baseUrl: config.baseUrl,
      network: config.network,
      sandbox: config.sandbox,
      invalidateApiKeys: access.invalidateApiKeys,
      createDefaultWebhook: async (trx, input) =>
        toWebhookRecord(await createDefaultWebhook(trx, box, input), box, { revealSecret: true }),
    }),
    ...sessionHandlers({ db, engine, findCountry }),
  } satisfies Partial<Handlers<typeof contract & typeof oauthWireContract>>;
}

/** Handlers of messages, events and webhooks. */
function messagingHandlers(parts: ApiParts, watch: OutcomeWatch) {
  const { config, requests, engine, box, outgoing, version } = parts;
  const { db } = requests;
  const live = liveDeps(parts);
  const { findCountry } = live;
  const { store, mediaUrls } = parts.media;
  const files = { db, engine, store, readFromNode: parts.nodes.readFile, mediaUrls, log: parts.log };
  return {
    ...messageHandlers({
      db,
      engine,
      watch,
      queue: config.queue,
      sendHoldMs: config.sendHoldMs,
      ackTimeoutMs: config.ackTimeoutMs,
      findCountry,
      outgoing,
      conversations: parts.conversations,
      findSession: parts.nodes.findSession,
      numbers: parts.sessions.numbers,
      reserveSend: parts.sessions.reserveSend,
      converter: parts.media.converter,
      maxBytes: config.mediaMaxBytes,
    }),
    ...campaignHandlers({
      db,
      engine,
      box,
      queue: config.queue,
      findCountry,
      outgoing,
      suppression: parts.suppression,
      converter: parts.media.converter,
      maxBytes: config.mediaMaxBytes,
    }),
    ...crmHandlers({ db, suppression: parts.suppression, findCountry }),
    ...quickReplyHandlers(db),
    ...contactHandlers(live),
    ...chatHandlers(live),
    ...groupHandlers(live),
    ...profileHandlers(live),
    ...linkingHandlers({
      db,
      engine,
      findCountry,
      findPairingSession: parts.nodes.findPairingSession,
      baseUrl: config.baseUrl,
      timeoutMs: config.ackTimeoutMs,
    }),
    ...mediaHandlers(files),
    ...eventHandlers(db),
    ...webhookHandlers({
      db,
      engine,
      box,
      outgoing,
      version,
      baseUrl: config.baseUrl,
      timeoutMs: config.webhookTimeoutMs,
    }),
    ...parts.integrations.handlers,
    ...sandboxHandlers(sandboxDeps(parts)),
  } satisfies Partial<Handlers<typeof contract>>;
}

function countryFinder({ config, requests }: Pick<ApiParts, "config" | "requests">): FindCountry {
  return createCountryFinder(requests.db, config.defaultCountry);
}

/** Dependencies of operations on live sessions. */
function liveDeps({ config, requests, conversations, sessions, nodes, outgoing }: ApiParts) {
  const { numbers } = sessions;
  const { db } = requests;
  const findCountry = countryFinder({ config, requests });
  const readInstance = createInstanceReader(db);
  const runOperation = createSessionOperationRunner({
    requireConnected: (id) => requireConnected(readInstance, id),
    findSession: nodes.findSession,
    timeoutMs: config.ackTimeoutMs,
  });
  return { db, conversations, numbers, runOperation, outgoing, findCountry };
}

function publicHandlers(parts: ApiParts, checks: HealthChecks) {
  const { config, requests, engine, dataDir } = parts;
  return {
    ...healthHandlers({ config, checks, clientVersion: parts.clientVersion }),
    ...backupHandlers({
      db: requests.db,
      engine,
      directory: parts.backups.directory,
      readFromNode: parts.nodes.readBackup,
    }),
    ...publicPagesHandlers(readOpenApiFile, {
      dataDir,
      ...(config.panel && { panelPath: `${PANEL_PATH}/` }),
    }),
  } satisfies Partial<Handlers<typeof contract>>;
}

function sandboxDeps({ requests, sandbox, engine, outgoing, config }: ApiParts) {
  const { db } = requests;
  const findCountry = countryFinder({ config, requests });
  return {
    db,
    sandbox: config.sandbox,
    controlOf: (account_id: number) => createSandboxControl(sandbox.pool, account_id),
    findPicture: (id: string) => findPicture(sandbox.pool, id),
    connectInstance: async (id: number) => {
      await connectInstance({ db, engine, findCountry }, id, {
        wait_seconds: 0,
        signal: new AbortController().signal,
      });
    },
    fetchMedia: createMediaFetcher(outgoing, config.mediaMaxBytes),
  };
}
