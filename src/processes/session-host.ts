import { type Conversations, createNumberResolver, type NumberResolver } from "../core/contacts/contacts.ts";
import type { CoreHooks } from "../core/hooks.ts";
import { MEDIA_GROUPS } from "../core/media/media.ts";
import { createMediaJobRunner } from "../core/media/media-job-runner.ts";
import type { NodeMedia } from "../core/media/open-media.ts";
import { ACTION_GROUPS } from "../core/messages/actions/action-groups.ts";
import { createActionRunner } from "../core/messages/actions/action-runner.ts";
import type { InboundWriter } from "../core/messages/inbound/inbound-recorder.ts";
import { createPhoneCallRejecter } from "../core/messages/inbound/phone-call-rejecter.ts";
import { findOriginal } from "../core/messages/log/find-original.ts";
import { findSentContent } from "../core/messages/log/find-sent-content.ts";
import { findUnsupported } from "../core/messages/log/find-unsupported.ts";
import { mayDelete } from "../core/messages/log/record-message-change.ts";
import type { ReceiptRecorder } from "../core/messages/receipts/record-receipts.ts";
import type { MessageCounters } from "../core/messages/record/create-message-counters.ts";
import { createMessageInserter } from "../core/messages/send/insert-messages.ts";
import { isNewChat } from "../core/messages/send/new-chats.ts";
import { failStuckSends, failStuckSendsSoon } from "../core/messages/send/outcome/fail-stuck-sends.ts";
import type { OutcomeRecorder } from "../core/messages/send/record-outcome.ts";
import { createSendRunner, type SendRunner } from "../core/messages/send/run-send.ts";
import { createInstanceReader } from "../core/messages/send/sending-instance.ts";
import { createConnectionRecorder } from "../core/sessions/connection/connection-recorder.ts";
import { createLiveSettings, type LiveSettings } from "../core/sessions/live-settings.ts";
import { OwnedSessions, type OwnedSessionsDeps } from "../core/sessions/owned-sessions.ts";
import { createPresenceUpdater } from "../core/sessions/presence-updater.ts";
import type { PairingCommit } from "../core/sessions/sealed-pairing-store.ts";
import { createSessionEventRecorder } from "../core/sessions/session-event-recorder.ts";
import { type SessionLaneDeps, sessionLane } from "../core/sessions/session-lane.ts";
import { statementHooks } from "../core/statement-hooks.ts";
import type { Engine } from "../engine/engine.ts";
import type { NetworkDriver, Session } from "../network/driver.ts";
import type { Config } from "../platform/config/config.ts";
import type { Db } from "../platform/db/database.ts";
import type { Log } from "../platform/log/log.ts";
import type { SafeFetch } from "../platform/outgoing/safe-fetch.ts";
import type { SecretBox } from "../platform/secrets/secret-box.ts";

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
  receipts: ReceiptRecorder;
  inbound: InboundWriter<PairingCommit>;
  counters?: MessageCounters;
  media: NodeMedia;
  hooks: CoreHooks;
}

/** The sessions of this node, for other parts of the process. */
export interface SessionHost {
  /** The live session of an instance, while it is connected. */
  connectedSession(instanceId: number): Session | undefined;
  /** The session of an instance that this node has open, connected or not. */
  openedSession(instanceId: number): Session | undefined;
  /** A place for a send to this chat that begins as soon as it is accepted, if it need not wait. */
  reserveSend: SendRunner["reserve"];
  /** Resolves phone numbers on the network. */
  readonly numbers: NumberResolver;
}

/** Starts the work of a node with the role `sessions`: connections, sends and inbound messages. */
export function addSessionHost(parts: SessionHostOptions): SessionHost {
  const { config, db, engine, box, outgoing, log, conversations, outcomes, hooks } = parts;
  const recorder = createConnectionRecorder({ db, engine });
  const live = createLiveSettings(db, engine);
  const connectedSession = (id: number) => sessions.connected(id);
  const sessions = openOwnedSessions(parts, {
    presence: createPresenceUpdater({ engine, live, connectedSession }),
    recorder: createSessionEventRecorder({
      db,
      engine,
      box,
      log,
      conversations,
      connections: recorder,
      live,
      connectedSession,
      inbound: parts.inbound,
      receipts: parts.receipts,
      counters: parts.counters,
      followers: hooks.networkFollowers,
    }),
  });
  const numbers = createNumberResolver({ db, conversations, connectedSession });
  const sends = createSendRunnerOf(parts, connectedSession, numbers);
  engine.register(
    sessionLane({
      db,
      engine,
      box,
      outgoing,
      log,
      recorder,
      sessions,
      sandbox: config.sandbox,
      networkData: hooks.networkData,
      runners: runnersOf(parts, { live, connectedSession, numbers, sends }),
      unpaused: [...ACTION_GROUPS, ...MEDIA_GROUPS],
      failStuckSends: () => failStuckSends(db, outcomes),
      failStuckSendsSoon: () => failStuckSendsSoon(db, engine),
      unregisterInstance: async (id) => {
        await Promise.all(hooks.instanceEnds.map((end) => end.unregister(id)));
      },
      waitUntilReported: async (id, timeoutMs) => {
        await Promise.all(hooks.instanceEnds.map((end) => end.report(id, timeoutMs)));
      },
    }),
  );
  const openedSession = (id: number) => sessions.opened(id);
  return { connectedSession, openedSession, reserveSend: sends.reserve, numbers };
}

function openOwnedSessions(
  { db, engine, box, drivers, conversations }: SessionHostOptions,
  { presence, recorder }: Pick<OwnedSessionsDeps, "presence" | "recorder">,
): OwnedSessions {
  return new OwnedSessions({
    db,
    engine,
    box,
    drivers,
    findSent: async (id, chat, messageId) =>
      findSentContent(db, id, await conversations.addressOf(id, chat), messageId),
    isNewChat: (id, chat) => isNewChat(db, id, chat),
    findOriginal: async (id, chat, messageId) =>
      findOriginal(db, box, id, await conversations.addressOf(id, chat), messageId),
    mayDelete: async (id, chat, by) =>
      mayDelete(db, id, await conversations.addressOf(id, chat), await conversations.identify(id, by)),
    findUnsupported: (id) => findUnsupported(db, box, id),
    recorder,
    presence,
    failStuckSendsSoon: () => failStuckSendsSoon(db, engine),
  });
}

function createSendRunnerOf(
  { config, db, engine, box, log, drivers, conversations, outcomes }: SessionHostOptions,
  connectedSession: SessionHost["connectedSession"],
  numbers: NumberResolver,
): SendRunner {
  const { ackTimeoutMs, sendHoldMs, unknownOutcomeWaitMs } = config;
  const { sendGuard } = statementHooks();
  return createSendRunner({
    db,
    engine,
    box,
    log,
    outcomes,
    connectedSession,
    conversations,
    numbers,
    ackTimeoutMs,
    sendHoldMs,
    unknownOutcomeWaitMs,
    withdraw: sendGuard && ((id) => sendGuard.withdraw(db, engine, id)),
    mostUnconfirmed: Object.fromEntries(
      drivers.map(({ network, mostUnconfirmedTries }) => [network, mostUnconfirmedTries]),
    ),
  });
}

interface SessionAccess {
  live: LiveSettings;
  connectedSession: (instanceId: number) => Session | undefined;
  numbers: NumberResolver;
  sends: SendRunner;
}

/** What runs the jobs of a session's lane, by their kind. */
function runnersOf(
  { config, db, engine, log, conversations, media }: SessionHostOptions,
  { live, connectedSession, numbers, sends }: SessionAccess,
): SessionLaneDeps["runners"] {
  const { ackTimeoutMs, sendHoldMs, mediaMaxBytes } = config;
  const rejectCall = createPhoneCallRejecter({
    db,
    engine,
    log,
    inserter: createMessageInserter(db),
    conversations,
    numbers,
    readInstance: createInstanceReader(db),
    connectedSession,
    messageOf: async (id) => (await live.get(id)).reject_message,
    sendHoldMs,
    ackTimeoutMs,
  });
  return new Map([
    ["send", (job) => sends.run(job)],
    ["act", createActionRunner({ db, engine, connectedSession })],
    ["reject_call", rejectCall],
    [
      "media",
      createMediaJobRunner({
        db,
        engine,
        files: media.files,
        connectedSession,
        maxBytes: mediaMaxBytes,
        log,
      }),
    ],
  ]);
}
