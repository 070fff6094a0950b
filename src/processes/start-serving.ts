import { createAccessTokens } from "../core/accounts/access/access-tokens.ts";
import { createSoleAccountCheck } from "../core/accounts/has-other-accounts.ts";
import { createSignInHandlers } from "../core/accounts/sign-in/sign-in.ts";
import { createPasswordHasher } from "../core/accounts/users/password-hasher.ts";
import { versionPolicyOf } from "../core/client-version/client-version.ts";
import { ClientVersionUpdater } from "../core/client-version/client-version-updater.ts";
import { createConversations, createCountryFinder } from "../core/contacts/contacts.ts";
import type { ExtensionBase } from "../core/extension.ts";
import { type CoreHooks, joinHooks, keepData } from "../core/hooks.ts";
import { openFile } from "../core/media/open-file.ts";
import { openMedia } from "../core/media/open-media.ts";
import { createMessageCounters } from "../core/messages/record/create-message-counters.ts";
import { createReportRecorder } from "../core/messages/record/report-recorder.ts";
import { createInstanceReader, requireConnected } from "../core/messages/send/sending-instance.ts";
import {
  createSessionOperationRunner,
  type RunSessionOperation,
} from "../core/session-operations/session-operations.ts";
import { resumeOutdated } from "../core/sessions/connection/resume-outdated.ts";
import { createStanzaCounter, type StanzaCounter } from "../core/sessions/create-stanza-counter.ts";
import { commitPairings, type PairingCommit } from "../core/sessions/sealed-pairing-store.ts";
import { DeliveryDispatcher } from "../core/webhooks/delivery/delivery-dispatcher.ts";
import type { Destinations } from "../core/webhooks/destinations/destination.ts";
import { createHttpDestination } from "../core/webhooks/destinations/http-destination.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import type { ClientVersions } from "../network/client-version.ts";
import type { NetworkDriver } from "../network/driver.ts";
import { createWhatsAppDriver } from "../network/whatsapp/whatsapp-driver.ts";
import type { Config } from "../platform/config/config.ts";
import type { DataDir } from "../platform/config/data-dir.ts";
import type { Readiness } from "../platform/http/server/http-server.ts";
import type { Log } from "../platform/log/log.ts";
import { createMetrics } from "../platform/log/metrics.ts";
import { createSafeFetch, type SafeFetch } from "../platform/outgoing/safe-fetch.ts";
import { packageVersion as readVersion } from "../platform/package-version.ts";
import type { SecretBox } from "../platform/secrets/secret-box.ts";
import { addWorker } from "./add-worker.ts";
import { type Api, createApi } from "./api.ts";
import { chooseExtensions } from "./choose-extensions.ts";
import type { CleanupStack } from "./cleanup-stack.ts";
import { type ClusterNodes, createClusterNodes } from "./cluster-nodes.ts";
import { EVENT_PAYLOADS } from "./extensions.ts";
import type { Databases } from "./open-databases.ts";
import { type ChosenExtensions, describeApi, openExtensions } from "./open-extensions.ts";
import { addSessionHost } from "./session-host.ts";
import { rethrowAsStartError, throwListenError, throwSettingError } from "./start-error.ts";

/** Share of the grace for running requests before the engine stops; a sync send needs the engine to finish. */
const RESPONSE_TIMEOUT_MS = 8_000;
/** An integration may request a file that must be downloaded first. */
const FILE_MS = 45_000;

type McpRequest = Parameters<typeof import("../mcp/serve-mcp-request.ts")["serveMcpRequest"]>[0];

interface GatewayBase extends Pick<Databases, "database" | "requests" | "sandbox" | "databaseListeners"> {
  config: Config;
  log: Log;
  undo: CleanupStack;
  dataDir: DataDir;
  secretKey: string;
  box: SecretBox;
  readiness: Readiness;
}

/** Connects engine, sessions, worker and HTTP; accepts requests only once the engine runs. */
export async function startServing(on: GatewayBase): Promise<{ engine: Engine; url: string }> {
  const { config, log, undo, dataDir, database, box } = on;
  const { db } = database;
  const listeners = [...on.databaseListeners];
  const allowsLoopback = config.localTargets === "auto" ? createSoleAccountCheck({ db, log }) : undefined;
  const outgoing = createSafeFetch({
    allowedHosts: config.allowedHosts,
    allowAlwaysDenied: config.allowAlwaysDenied,
    httpsOnly: config.httpsOnly,
    egressProxy: config.egressProxy,
    allowsLoopback,
    ownListeners: () => listeners,
    log,
  });
  undo.add(() => outgoing.close());
  const engine = engineOf(on);
  const base = {
    config,
    db,
    requestDb: on.requests.db,
    databaseUrl: database.url,
    sandbox: on.sandbox,
    engine,
    box,
    outgoing,
    dataDir: dataDir.path,
    log,
  };
  const extensions = chooseExtensions(config.extensions);
  const hooks = await makeHooks(extensions, base);
  const destinations: Destinations = [createHttpDestination(outgoing), ...hooks.destinations];
  undo.add(() => Promise.all(destinations.map((destination) => destination.close())));
  const deliveries = new DeliveryDispatcher(engine);
  const metrics = createMetrics(config.metricsToken);
  const counters = createMessageCounters(metrics.registry);
  const reports = createReportRecorder({
    db,
    engine,
    events: deliveries,
    outcomeFollowers: hooks.outcomeFollowers,
    inboundFollowers: hooks.inboundFollowers,
    saveChanges: (trx, changes: readonly PairingCommit[]) =>
      commitPairings(trx, box, engine.node.id, changes),
    counters,
  });
  const media = await openMedia({ config, secretKey: on.secretKey, db, dataDir, log }).catch(
    rethrowAsStartError,
  );
  undo.add(() => media.close());
  const hasSandbox = hooks.networks.some(({ network }) => network === "sandbox");
  const shared = {
    config: hasSandbox ? config : { ...config, sandbox: "off" as const },
    db,
    engine,
    box,
    outgoing,
    conversations: createConversations(db),
    deliveries,
    ...reports,
    counters,
    media,
    clientVersion: await openClientVersion(on, engine, outgoing),
    version: readVersion(),
    hooks,
    destinations,
    log,
    metrics,
  };
  const onUnknownStanza = createStanzaCounter(metrics.registry);
  const drivers = createDrivers(on, { ...shared, onUnknownStanza });
  const sessions = addSessionHost({ ...shared, drivers });
  const nodes = createClusterNodes({
    config,
    db,
    engine,
    sessions,
    store: media.store,
    nodeRequests: hooks.nodeRequests,
  });
  undo.add(() => nodes.close());
  const files = { db, engine, store: media.store, readFromNode: nodes.readFile, log };
  const identity = identityOf(on);
  const findCountry = createCountryFinder(on.requests.db, config.defaultCountry);
  const runOperation = createOperationRunner(on, nodes);
  const { resourceMetadataUrl = "" } = hooks.assistants ?? {};
  const opened = await openExtensions(extensions, {
    ...base,
    ...shared,
    ...identity,
    numbers: sessions.numbers,
    findCountry,
    findSession: nodes.findSession,
    findPairingSession: nodes.findPairingSession,
    runOperation,
    openFile: (id) => openFile(files, { media: id }, AbortSignal.timeout(FILE_MS)),
    clearDeliveries: () => shared.deliveries.clear(),
    readFromNode: nodes.readFromNode,
    eventPayloads: EVENT_PAYLOADS,
    describeApi: () => describeApi(extensions, EVENT_PAYLOADS),
    async serveMcp(request: McpRequest) {
      const { serveMcpRequest } = await import("../mcp/serve-mcp-request.ts");
      return serveMcpRequest(request, { baseUrl: config.baseUrl, resourceMetadataUrl });
    },
  }).catch(throwSettingError);
  addWorker({ ...shared, extensions: opened });
  const api = await createApi({
    ...shared,
    runOperation,
    identity,
    findCountry,
    database,
    requests: on.requests,
    sessions,
    extensions: opened,
    nodes,
    readiness: on.readiness,
    dataDir: dataDir.path,
  });
  undo.add((leftMs) => engine.stop({ graceMs: leftMs() }));
  undo.add((leftMs) => api.close({ graceMs: Math.min(leftMs(), RESPONSE_TIMEOUT_MS) }));
  await engine.start();
  const { url, ...listener } = await listen(api, config);
  listeners.push(listener);
  await media.started();
  return { engine, url };
}

function createOperationRunner(
  { config, requests }: GatewayBase,
  { findSession }: Pick<ClusterNodes, "findSession">,
): RunSessionOperation {
  const readInstance = createInstanceReader(requests.db);
  return createSessionOperationRunner({
    requireConnected: (id) => requireConnected(readInstance, id),
    findSession,
    timeoutMs: config.ackTimeoutMs,
  });
}

function engineOf({ config, log, dataDir, database, requests, sandbox }: GatewayBase): Engine {
  // The other pools connect to the same database.
  const checkConnections = () => {
    const cuts = [database, requests, sandbox].map((one) => one.checkConnections());
    return () => cuts.forEach((cut) => void cut());
  };
  return createEngine({
    database: { ...database, checkConnections },
    log,
    node_id: dataDir.node_id,
    roles: config.roles,
    url: config.nodeUrl,
    claimImmediately: dataDir.isPredecessorGone,
  });
}

async function openClientVersion(
  { config, database: { db }, log, undo }: GatewayBase,
  engine: Engine,
  outgoing: SafeFetch,
): Promise<ClientVersionUpdater> {
  const policy = versionPolicyOf(config);
  const versionUpdater = new ClientVersionUpdater({
    db,
    engine,
    outgoing,
    policy,
    log,
    resumeOutdated: () => resumeOutdated(db, engine),
  });
  undo.add(async () => versionUpdater.close());
  await versionUpdater.start();
  return versionUpdater;
}

/** Those that protect stored data stay while their extension is switched off. */
async function makeHooks({ on, off }: ChosenExtensions, base: ExtensionBase): Promise<CoreHooks> {
  const made = await Promise.all(on.map((extension) => extension.hooks?.(base) ?? {}));
  const kept = await Promise.all(
    off.map(async (extension) => keepData((await extension.hooks?.(base)) ?? {})),
  );
  return joinHooks([...made, ...kept]);
}

function identityOf({ config, secretKey, requests: { db } }: GatewayBase) {
  const secondKey = config.secretKeySecond?.reveal();
  const secrets: [string, ...string[]] = secondKey ? [secretKey, secondKey] : [secretKey];
  const tokens = createAccessTokens({ secretKey, secondKey, lifetimeSeconds: config.jwtLifetimeSeconds });
  const passwords = createPasswordHasher();
  return { secrets, tokens, passwords, signIn: createSignInHandlers({ db, tokens, passwords, secrets }) };
}

function listen(api: Api, { host, port }: Config) {
  return api.listen(host, port).catch((error: unknown) => throwListenError(error, host, port));
}

function createDrivers(
  { config, log }: GatewayBase,
  {
    clientVersion: versions,
    outgoing,
    onUnknownStanza,
    hooks,
  }: {
    clientVersion: ClientVersions;
    outgoing: SafeFetch;
    onUnknownStanza: StanzaCounter;
    hooks: CoreHooks;
  },
): NetworkDriver[] {
  return [
    ...hooks.networks,
    createWhatsAppDriver({
      timing: { openPerSecond: config.loginsPerSecond },
      url: config.whatsappUrl,
      rootKey: config.whatsappRootKey,
      versions,
      onUnknownStanza,
      egress: {
        lookup: (host, ...rest) => outgoing.lookup(`https://${host}/`, "network")(host, ...rest),
        ...(config.egressProxy !== undefined && { proxy: config.egressProxy }),
      },
      log,
    }),
  ];
}
