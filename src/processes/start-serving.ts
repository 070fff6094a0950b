import { createEngine, type Engine } from "../engine/engine.ts";
import { createSoleAccountCheck } from "../core/accounts/has-other-accounts.ts";
import { updateRecipientStatus } from "../extensions/campaigns/update-recipient-status.ts";
import { versionPolicyOf } from "../core/client-version/client-version.ts";
import { ClientVersionUpdater } from "../core/client-version/client-version-updater.ts";
import { createSuppressionList } from "../extensions/consent/consent.ts";
import { createConversations } from "../core/contacts/contacts.ts";
import { createLeadFollower } from "../extensions/crm/crm.ts";
import { createNodeIntegrations } from "../extensions/integrations/node-integrations.ts";
import { openFile } from "../core/media/open-file.ts";
import { openMedia } from "../core/media/open-media.ts";
import { createMessageCounters } from "../core/messages/record/create-message-counters.ts";
import { createReportRecorder } from "../core/messages/record/report-recorder.ts";
import { createStanzaCounter, type StanzaCounter } from "../core/sessions/create-stanza-counter.ts";
import { resumeOutdated } from "../core/sessions/resume-outdated.ts";
import { commitPairings, type PairingCommit } from "../core/sessions/sealed-pairing-store.ts";
import { DeliveryDispatcher } from "../core/webhooks/delivery-dispatcher.ts";
import type { ClientVersions } from "../network/client-version.ts";
import type { NetworkDriver } from "../network/driver.ts";
import { createSandboxDriver } from "../network/sandbox/sandbox-driver.ts";
import { createWhatsAppDriver } from "../network/whatsapp/whatsapp-driver.ts";
import type { Config } from "../platform/config/config.ts";
import type { DataDir } from "../platform/config/data-dir.ts";
import { packageVersion as readVersion } from "../platform/config/package-version.ts";
import type { Readiness } from "../platform/http/http-server.ts";
import type { Log } from "../platform/log/log.ts";
import { createMetrics } from "../platform/log/metrics.ts";
import { createSafeFetch, type SafeFetch } from "../platform/outgoing/safe-fetch.ts";
import type { SecretBox } from "../platform/secrets/secret-box.ts";
import { addWorker } from "./add-worker.ts";
import { type Api, createApi } from "./api.ts";
import type { CleanupStack } from "./cleanup-stack.ts";
import { createClusterNodes } from "./cluster-nodes.ts";
import { openBackups } from "./open-backups.ts";
import type { Databases } from "./open-databases.ts";
import { addSessionHost } from "./session-host.ts";
import { rethrowAsStartError, throwListenError } from "./start-error.ts";

/** Share of the grace for running requests before the engine stops; a sync send needs the engine to finish. */
const RESPONSE_TIMEOUT_MS = 8_000;
/** An integration may request a file that must be downloaded first. */
const FILE_MS = 45_000;

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
  const suppression = await createSuppressionList(db, box);
  const deliveries = new DeliveryDispatcher(engine);
  const metrics = createMetrics(config.metricsToken);
  const counters = createMessageCounters(metrics.registry);
  const reports = createReportRecorder({
    db,
    engine,
    events: deliveries,
    followCampaigns: updateRecipientStatus,
    followMessages: createLeadFollower(suppression),
    saveChanges: (trx, changes: readonly PairingCommit[]) =>
      commitPairings(trx, box, engine.node.id, changes),
    counters,
  });
  const media = await openMedia({ config, secretKey: on.secretKey, db, dataDir, log }).catch(
    rethrowAsStartError,
  );
  undo.add(() => media.close());
  const shared = {
    config,
    db,
    engine,
    box,
    outgoing,
    conversations: createConversations(db),
    deliveries,
    ...reports,
    counters,
    suppression,
    media,
    backups: await openBackupsOf(on),
    clientVersion: await openClientVersion(on, engine, outgoing),
    version: readVersion(),
    log,
    metrics,
  };
  const onUnknownStanza = createStanzaCounter(metrics.registry);
  const drivers = createDrivers(on, { ...shared, onUnknownStanza });
  const sessions = addSessionHost({ ...shared, sandbox: on.sandbox, drivers });
  const nodes = createClusterNodes({
    config,
    db,
    engine,
    sessions,
    store: media.store,
    backups: shared.backups,
  });
  undo.add(() => nodes.close());
  const files = { db, engine, store: media.store, readFromNode: nodes.readFile, log };
  const integrations = createNodeIntegrations({
    db,
    requestDb: on.requests.db,
    engine,
    box,
    outgoing,
    conversations: shared.conversations,
    numbers: sessions.numbers,
    findSession: nodes.findSession,
    mediaUrls: media.mediaUrls,
    converter: media.converter,
    maxBytes: config.mediaMaxBytes,
    sendHoldMs: config.sendHoldMs,
    baseUrl: config.baseUrl,
    version: shared.version,
    log,
    openFile: (id) => openFile(files, { media: id }, AbortSignal.timeout(FILE_MS)),
  });
  addWorker({ ...shared, sessions, integrations, sandbox: on.sandbox });
  const api = await createApi({
    ...shared,
    secretKey: on.secretKey,
    database,
    requests: on.requests,
    sandbox: on.sandbox,
    sessions,
    integrations,
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

function openBackupsOf({ config, log, dataDir, database: { db, url } }: GatewayBase) {
  const { path, node_id: node } = dataDir;
  return openBackups({ config, dataDir: path, db, url, node, log });
}

function listen(api: Api, { host, port }: Config) {
  return api.listen(host, port).catch((error: unknown) => throwListenError(error, host, port));
}

function createDrivers(
  { config, sandbox, log }: GatewayBase,
  {
    clientVersion: versions,
    outgoing,
    onUnknownStanza,
  }: { clientVersion: ClientVersions; outgoing: SafeFetch; onUnknownStanza: StanzaCounter },
): NetworkDriver[] {
  const timing = { openPerSecond: config.loginsPerSecond };
  const pictureBase = `${config.baseUrl}/sandbox/pictures/`;
  return [
    createSandboxDriver({ pool: sandbox.pool, log, pictureBase, timing }),
    createWhatsAppDriver({
      timing,
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
