import type { Engine, Job, JobResult, Lane } from "../engine/engine.ts";
import { withdrawSend } from "../features/campaigns/withdraw-sends.ts";
import type { SuppressionList } from "../features/consent/consent.ts";
import {
  type Conversations,
  createNumberResolver,
  type NumberResolver,
} from "../features/contacts/contacts.ts";
import { CONTROL_JOB_GROUP } from "../features/instances/control-job-ref.ts";
import { unregisterIntegrations } from "../features/integrations/unregister-integrations.ts";
import { waitUntilIntegrationsIdle } from "../features/integrations/wait-until-integrations-idle.ts";
import { MEDIA_GROUPS } from "../features/media/media.ts";
import { createMediaJobRunner } from "../features/media/media-job-runner.ts";
import type { NodeMedia } from "../features/media/open-media.ts";
import { ACTION_GROUPS } from "../features/messages/actions/action-groups.ts";
import { createActionRunner } from "../features/messages/actions/action-runner.ts";
import { createPhoneCallRejecter } from "../features/messages/inbound/phone-call-rejecter.ts";
import { findSentContent } from "../features/messages/log/find-sent-content.ts";
import { createMessageInserter } from "../features/messages/send/accept/insert-messages.ts";
import {
  failStrandedSends,
  failStrandedSoon,
} from "../features/messages/send/outcome/fail-stranded-sends.ts";
import type { OutcomeRecorder } from "../features/messages/send/record-outcome.ts";
import { createSendRunner } from "../features/messages/send/run-send.ts";
import { createInstanceReader } from "../features/messages/send/sending-instance.ts";
import { createConnectionRecorder } from "../features/sessions/connection-recorder.ts";
import { createCredentialStore } from "../features/sessions/credential-store.ts";
import { createLiveSettings } from "../features/sessions/live-settings.ts";
import { resumeSession } from "../features/sessions/open-session.ts";
import { createPresenceUpdater, type PresenceUpdater } from "../features/sessions/presence-updater.ts";
import { runControlJob } from "../features/sessions/run-control-job.ts";
import { createSealedPairingStore } from "../features/sessions/sealed-pairing-store.ts";
import type { NetworkDriver, NetworkEvent, Session } from "../network/driver.ts";
import { createSandboxControl } from "../network/sandbox/sandbox-control.ts";
import { MOST_UNCONFIRMED_TRIES } from "../network/sandbox/world/test-numbers.ts";
import {
  createSessionRegistry,
  type SessionOptions,
  type SessionRegistry,
} from "../network/session-registry.ts";
import type { Config } from "../platform/config/config.ts";
import { type Database, type Db, isTransientDatabaseError } from "../platform/db/database.ts";
import { withTimeout } from "../platform/limits/with-timeout.ts";
import type { Log } from "../platform/log/log.ts";
import type { SafeFetch } from "../platform/outgoing/safe-fetch.ts";
import type { SecretBox } from "../platform/secrets/secret-box.ts";
import {
  createSessionEventRecorder,
  type RecordSessionEvent,
  type SessionInstance,
} from "./session-event-recorder.ts";

export interface SessionHostOptions {
  config: Config;
  db: Db;
  engine: Engine;
  box: SecretBox;
  outgoing: SafeFetch;
  log: Log;
  drivers: readonly NetworkDriver[];
  conversations: Conversations;
  outcomes: OutcomeRecorder;
  suppression: SuppressionList;
  media: NodeMedia;
  sandbox: Database;
}

/** The sessions of this node, for other parts of the process. */
export interface SessionHost {
  /** The live session of an instance, while it is connected. */
  connectedSession(instanceId: number): Session | undefined;
  /** The session of an instance that this node has open, connected or not. */
  openedSession(instanceId: number): Session | undefined;
  /** Resolves phone numbers on the network. */
  readonly numbers: NumberResolver;
}

const MOST_UNCONFIRMED = { sandbox: MOST_UNCONFIRMED_TRIES };

/** Starts the work of a node with the role `sessions`: connections, sends and inbound messages. */
export function addSessionHost(parts: SessionHostOptions): SessionHost {
  const { config, db, engine } = parts;
  const recorder = createConnectionRecorder({ db, engine });
  const live = createLiveSettings(db, engine);
  const connectedSession = (id: number) => host.connected(id);
  const presence = createPresenceUpdater({ engine, live, connectedSession });
  const report = createSessionEventRecorder({ ...parts, recorder, live, connectedSession });
  const host = new LaneSessions(parts, report, presence);
  const numbers = createNumberResolver({ ...parts, connectedSession });
  const runSend = createSendRunner({
    ...parts,
    ...config,
    numbers,
    connectedSession,
    mostUnconfirmed: MOST_UNCONFIRMED,
    withdraw: (id) => withdrawSend(db, engine, id),
  });
  const runAction = createActionRunner({ db, engine, connectedSession });
  const refuseCall = createPhoneCallRejecter({
    ...parts,
    ...config,
    connectedSession,
    numbers,
    inserter: createMessageInserter(db),
    readInstance: createInstanceReader(db),
    messageOf: async (id) => (await live.get(id)).reject_message,
  });
  const sandboxOf = (account_id: number) => createSandboxControl(parts.sandbox.pool, account_id);
  const dismiss = (id: number) => unregisterIntegrations(parts, id);
  const { files } = parts.media;
  const runMedia = createMediaJobRunner({
    ...parts,
    files,
    connectedSession,
    maxBytes: config.mediaMaxBytes,
  });

  function run(job: Job): Promise<JobResult> {
    const { do: what } = job.ref as { do: string };
    if (what === "send") return runSend(job);
    if (what === "act") return runAction(job);
    if (what === "refuse_call") return refuseCall(job);
    if (what === "media") return runMedia(job);
    return control(parts, job, what, () =>
      runControlJob({ ...parts, recorder, dismissIntegrations: dismiss, sandboxOf }, host, job),
    );
  }

  engine.register({
    kind: "session",
    role: "sessions",
    // Files use at most four of them.
    laneConcurrency: 16,
    unpausedGroups: [CONTROL_JOB_GROUP, ...ACTION_GROUPS, ...MEDIA_GROUPS],
    run,
    onClaimed: async (lane) => {
      if (await host.take(lane)) await resumeSession({ ...parts, recorder }, host, lane);
    },
    onLost: (lane) => host.lose(lane),
  });
  return { connectedSession, openedSession: (id) => host.opened(id), numbers };
}

/** Fails the waiting sends of an instance that is logged out or deleted. */
async function control(
  parts: SessionHostOptions,
  job: Job,
  what: string,
  runJob: () => Promise<JobResult>,
): Promise<JobResult> {
  if (what === "delete") await tellFailures(parts, job);
  const end = await runJob();
  if (what === "logout") await failStrandedSoon(parts.db, parts.engine);
  return end;
}

const LAST_WORDS_MS = 5_000;

/**
 * Fails an instance's waiting sends before its deletion, while its integrations can still receive the
 * failures.
 */
async function tellFailures({ db, outcomes, log }: SessionHostOptions, { lane }: Job): Promise<void> {
  const instance_id = Number(lane.key);
  const telling = failStrandedSends(db, outcomes)
    .then(() => waitUntilIntegrationsIdle(db, instance_id, LAST_WORDS_MS))
    .catch((error: unknown) => log.warn({ err: error, instance_id }, "some failed sends were not reported"));
  await withTimeout(telling, LAST_WORDS_MS);
}

/** The sessions whose lanes this node owns; until one is connected, only its control jobs run. */
class LaneSessions {
  readonly #sessions: SessionRegistry;
  readonly #parts: SessionHostOptions;
  readonly #report: RecordSessionEvent;
  readonly #presence: PresenceUpdater;
  readonly #owners = new Map<number, SessionInstance>();
  readonly #connected = new Set<number>();

  constructor(parts: SessionHostOptions, report: RecordSessionEvent, presence: PresenceUpdater) {
    this.#parts = parts;
    this.#report = report;
    this.#presence = presence;
    const { db, box, engine, drivers } = parts;
    const pairingStore = createSealedPairingStore({ db, box, node: engine.node.id });
    this.#sessions = createSessionRegistry({
      drivers,
      credentials: (id) =>
        createCredentialStore({ db, box, node: engine.node.id, lane: this.#laneOf(id), pairingStore }),
      report: (id, event) => this.#store(id, event),
      isTransientError: isTransientDatabaseError,
      findSent: async (id, chat, messageId) =>
        findSentContent(db, id, await this.#parts.conversations.addressOf(id, chat), messageId),
    });
  }

  /** Undefined while this node may not act: after a pause, another node may own its sessions. */
  connected(id: number): Session | undefined {
    return this.#connected.has(id) ? this.opened(id) : undefined;
  }

  /** Like `connected`, but also while the instance is being paired. */
  opened(id: number): Session | undefined {
    return this.#parts.engine.isSafe() ? this.#sessions.get(id) : undefined;
  }

  open(id: number, network: NetworkDriver["network"], options: SessionOptions): Session {
    if (!this.#sessions.get(id)) this.#presence.opened(id, options.markOnline ?? false);
    return this.#sessions.open(id, network, options);
  }

  /** A closed session reports no event, so its state is updated here. */
  async close(id: number): Promise<void> {
    this.#follow(id, false);
    await this.#sessions.close(id);
  }

  /** False if the instance no longer exists. */
  async take(lane: Lane): Promise<boolean> {
    const id = Number(lane.key);
    this.#parts.engine.unfinishedGroups(lane.id, [CONTROL_JOB_GROUP]);
    const instance = await this.#parts.db
      .selectFrom("instance")
      .select("account_id")
      .where("id", "=", id)
      .executeTakeFirst();
    if (!instance) return false;
    this.#owners.set(id, { id, account_id: instance.account_id });
    return true;
  }

  async lose(lane: Lane): Promise<void> {
    const id = Number(lane.key);
    this.#connected.delete(id);
    this.#owners.delete(id);
    await this.#sessions.close(id);
  }

  async #store(id: number, event: NetworkEvent): Promise<void> {
    const owner = this.#owners.get(id);
    if (!owner) throw new Error(`This node does not own the session of instance ${id}.`);
    await this.#report(owner, event);
    if (event.type === "logged_out" || event.type === "banned")
      await failStrandedSoon(this.#parts.db, this.#parts.engine);
    if (event.type === "connected") this.#follow(id, true);
    else if (ENDS.has(event.type)) this.#follow(id, false);
  }

  #follow(id: number, isConnected: boolean): void {
    if (isConnected) this.#connected.add(id);
    else this.#connected.delete(id);
    if (isConnected) this.#presence.connected(id);
    this.#parts.engine.unfinishedGroups(this.#laneOf(id).id, isConnected ? null : [CONTROL_JOB_GROUP]);
  }

  #laneOf(id: number): Lane {
    const lane = this.#parts.engine.findOwnedLane("session", String(id));
    if (!lane) throw new Error(`This node does not own the session of instance ${id}.`);
    return lane;
  }
}

const ENDS = new Set<NetworkEvent["type"]>(["disconnected", "logged_out", "banned"]);
