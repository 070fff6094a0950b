import { setTimeout as delay } from "node:timers/promises";
import type { contract } from "../contract.ts";
import type { AccessTokens } from "../core/accounts/access/access-tokens.ts";
import { type AccessControl, createAuthorise } from "../core/accounts/access/authorise.ts";
import { createRateLimits } from "../core/accounts/access/rate-limits.ts";
import { accountHandlers } from "../core/accounts/account-handlers.ts";
import type { SignInHandlers } from "../core/accounts/accounts.ts";
import type { PasswordHasher } from "../core/accounts/users/password-hasher.ts";
import { chatHandlers } from "../core/chats/chats.ts";
import type { ClientVersionUpdater } from "../core/client-version/client-version-updater.ts";
import { registerVersionMetrics } from "../core/client-version/register-version-metrics.ts";
import { type Conversations, contactHandlers, type FindCountry } from "../core/contacts/contacts.ts";
import { eventHandlers } from "../core/events/event-handlers.ts";
import { groupHandlers } from "../core/groups/groups.ts";
import { createHealthChecks, type HealthChecks } from "../core/health/create-health-checks.ts";
import { healthHandlers } from "../core/health/health.ts";
import { readQueues } from "../core/health/read-queues.ts";
import { registerHealthMetrics } from "../core/health/register-health-metrics.ts";
import type { CoreHooks } from "../core/hooks.ts";
import { instanceLogsHandlers } from "../core/instance-logs/instance-logs.ts";
import { createRequestLog } from "../core/instance-logs/request-log.ts";
import { instanceHandlers } from "../core/instances/instances.ts";
import { mediaHandlers } from "../core/media/media-handlers.ts";
import { openFile } from "../core/media/open-file.ts";
import type { NodeMedia } from "../core/media/open-media.ts";
import { messageHandlers } from "../core/messages/messages.ts";
import { createOutcomeWatch, type OutcomeWatch } from "../core/messages/send/outcome/outcome-watch.ts";
import { planHandlers } from "../core/plans/plan-handlers.ts";
import { profileHandlers } from "../core/profile/profile.ts";
import type { RunSessionOperation } from "../core/session-operations/session-operations.ts";
import { sessionHandlers } from "../core/sessions/sessions.ts";
import { createDefaultWebhook } from "../core/webhooks/change-default-webhook.ts";
import { type Destinations, destinationOf } from "../core/webhooks/destinations/destination.ts";
import { toWebhookRecord } from "../core/webhooks/webhook-record.ts";
import { webhookHandlers } from "../core/webhooks/webhooks.ts";
import type { Engine } from "../engine/engine.ts";
import type { Config } from "../platform/config/config.ts";
import type { Database } from "../platform/db/database.ts";
import type { Handlers } from "../platform/http/handler.ts";
import { type EventLoopLagMeter, startEventLoopLagMeter } from "../platform/http/load-shedder.ts";
import { createHttpServer, type HttpServer, type Readiness } from "../platform/http/server/http-server.ts";
import type { Log } from "../platform/log/log.ts";
import type { Metrics } from "../platform/log/metrics.ts";
import type { SafeFetch } from "../platform/outgoing/safe-fetch.ts";
import type { SecretBox } from "../platform/secrets/secret-box.ts";
import type { ClusterNodes } from "./cluster-nodes.ts";
import type { OpenedExtensions } from "./open-extensions.ts";
import type { SessionHost } from "./session-host.ts";

export interface ApiParts {
  config: Config;
  runOperation: RunSessionOperation;
  identity: SignInParts;
  database: Database;
  /** For what a request itself does. */
  requests: Database;
  engine: Engine;
  box: SecretBox;
  outgoing: SafeFetch;
  conversations: Conversations;
  findCountry: FindCountry;
  sessions: SessionHost;
  media: NodeMedia;
  extensions: OpenedExtensions;
  clientVersion: ClientVersionUpdater;
  nodes: ClusterNodes;
  readiness: Readiness;
  dataDir: string;
  version: string;
  hooks: CoreHooks;
  destinations: Destinations;
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

/** Who a caller is. */
export interface SignInParts {
  tokens: AccessTokens;
  passwords: PasswordHasher;
  signIn: SignInHandlers;
}

export interface Api extends Omit<HttpServer, "close"> {
  /** Accepts no more requests and gives running requests `graceMs` to finish. */
  close(options: { graceMs: number }): Promise<void>;
}

/** The HTTP side of this node: every route of the contract with its handler. */
export async function createApi(parts: ApiParts): Promise<Api> {
  const { config, database, engine, extensions, log, metrics } = parts;
  const { db } = database;
  const access = createAccess(parts, metrics);
  const requestLog = createRequestLog({ db, log });
  const watch = createOutcomeWatch(db, engine);
  const checks = createHealthChecks(parts);
  const readPendingJobs = () => readQueues(db, undefined);
  registerHealthMetrics(metrics.registry, { database, engine, checks, readQueues: readPendingJobs });
  registerVersionMetrics(metrics.registry, () => parts.clientVersion.state());
  const lag = startEventLoopLagMeter({ ceilingMs: 2 * config.maxEventLoopDelayMs });
  const server = await createHttpServer({
    contract: extensions.contract,
    handlers: { ...extensions.handlers, ...coreHandlers(parts, { access, watch, checks }) },
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
    ...(extensions.notFoundPage !== undefined && { notFoundPage: extensions.notFoundPage }),
    corsOrigins: config.corsOrigins,
    isHttps: config.baseUrl.startsWith("https:"),
    files: extensions.files,
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
  { config, requests: { db }, engine, identity: { tokens }, extensions, hooks }: ApiParts,
  { isToken }: Metrics,
): AccessControl {
  const { adminToken, adminTokenSecond, adminFrom } = config;
  const adminTokens = [adminToken, adminTokenSecond].filter((token) => token !== undefined);
  const limits = createRateLimits({
    unknownPerMinute: config.unauthenticatedRate,
    shares: () => engine.countLiveNodes("api"),
  });
  return createAuthorise({
    db,
    tokens,
    adminTokens,
    adminFrom,
    engine,
    ...(extensions.pathTokens && { pathTokens: extensions.pathTokens }),
    limits,
    isMetricsToken: isToken,
    assistants: hooks.assistants,
  });
}

interface RequestParts {
  access: AccessControl;
  watch: OutcomeWatch;
  checks: HealthChecks;
}

function coreHandlers(parts: ApiParts, { access, watch, checks }: RequestParts) {
  const { config, clientVersion } = parts;
  return {
    ...customerHandlers(parts, access),
    ...messagingHandlers(parts, watch),
    ...healthHandlers({ config, checks, clientVersion }),
  } satisfies Partial<Handlers<typeof contract>>;
}

/** Handlers of accounts and instances: permissions and settings. */
function customerHandlers(parts: ApiParts, access: AccessControl) {
  const { config, identity, requests, engine, box, outgoing, findCountry } = parts;
  const { db } = requests;
  const closesThisMachine = config.localTargets === "auto";
  return {
    ...accountHandlers({ db, engine, access, ...identity, closesThisMachine }),
    ...planHandlers(db),
    ...instanceLogsHandlers(db),
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
        toWebhookRecord(
          await createDefaultWebhook(
            trx,
            { box, formats: parts.hooks.webhookFormats, destinations: parts.destinations },
            input,
          ),
          box,
          { revealSecret: true },
        ),
      findWebhookIssue: (url) => destinationOf(parts.destinations, url).findIssue(url, "tenant"),
    }),
    ...sessionHandlers({ db, engine, findCountry }),
  };
}

/** Handlers of messages, events and webhooks. */
function messagingHandlers(parts: ApiParts, watch: OutcomeWatch) {
  const { config, requests, engine, box, outgoing, version, findCountry } = parts;
  const { db } = requests;
  const live = liveDeps(parts);
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
      findQuickReply: parts.hooks.findQuickReply,
      openFile: (message) => openFile(files, { message }, AbortSignal.timeout(config.ackTimeoutMs)),
    }),
    ...contactHandlers(live),
    ...chatHandlers(live),
    ...groupHandlers(live),
    ...profileHandlers(live),
    ...mediaHandlers(files),
    ...eventHandlers(db),
    ...webhookHandlers({
      db,
      engine,
      box,
      destinations: parts.destinations,
      version,
      formats: parts.hooks.webhookFormats,
      baseUrl: config.baseUrl,
      timeoutMs: config.webhookTimeoutMs,
    }),
  };
}

/** Dependencies of operations on live sessions. */
function liveDeps({ requests, conversations, sessions, runOperation, outgoing, findCountry }: ApiParts) {
  const { numbers } = sessions;
  const { db } = requests;
  return { db, conversations, numbers, runOperation, outgoing, findCountry };
}
