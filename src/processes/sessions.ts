import type { Engine, Job, JobEnd, Lane } from "../engine/engine.ts";
import { CONTROL_GROUP } from "../features/instances/control-jobs.ts";
import { createCredentialStore } from "../features/instances/credential-store.ts";
import { resumeSession } from "../features/instances/open-session.ts";
import { createPairingVault } from "../features/instances/pairing-vault.ts";
import { createConnectionRecorder } from "../features/instances/record-connection.ts";
import { runControlJob } from "../features/instances/run-control-job.ts";
import type { Conversations } from "../features/messages/conversations.ts";
import { findSent } from "../features/messages/find-sent.ts";
import type { OutcomeRecorder } from "../features/messages/record-outcome.ts";
import { createActionRunner } from "../features/messages/run-action.ts";
import { createSendRunner } from "../features/messages/send-message.ts";
import type { Driver, NetworkEvent, Session } from "../network/driver.ts";
import { createSessions, type Sessions } from "../network/sessions.ts";
import type { Config } from "../platform/config.ts";
import type { Db } from "../platform/db.ts";
import type { Log } from "../platform/log.ts";
import type { SecretBox } from "../platform/secret-box.ts";
import { createSessionReport, type SessionOwner, type SessionReport } from "./session-report.ts";

export interface SessionParts {
  config: Config;
  db: Db;
  engine: Engine;
  box: SecretBox;
  log: Log;
  drivers: readonly Driver[];
  conversations: Conversations;
  outcomes: OutcomeRecorder;
}

/** The sessions of this node, as the rest of the process sees them. */
export interface SessionHost {
  /** The live session of an instance, while it is connected. */
  connectedSession(instanceId: number): Session | undefined;
}

/** What a node with the role `sessions` does: it holds sockets, sends what waits and stores what arrives. */
export function addSessions(parts: SessionParts): SessionHost {
  const { config, db, engine, log, outcomes } = parts;
  const recorder = createConnectionRecorder({ db, engine });
  const host = new OwnedSessions(parts, createSessionReport({ ...parts, recorder }));
  const connectedSession = (id: number) => host.connected(id);
  const runSend = createSendRunner({ ...config, db, engine, outcomes, connectedSession });
  const runAction = createActionRunner({ db, engine, connectedSession });

  function run(job: Job): Promise<JobEnd> {
    const { do: what } = job.ref as { do: string };
    if (what === "send") return runSend(job);
    if (what === "act") return runAction(job);
    return runControlJob({ db, engine, recorder, log }, host, job);
  }

  engine.register({
    kind: "session",
    role: "sessions",
    width: 4,
    run,
    taken: async (lane) => {
      if (await host.take(lane)) await resumeSession({ db, recorder, log }, host, lane);
    },
    lost: (lane) => host.lose(lane),
  });
  return { connectedSession };
}

/** The sessions whose lanes this node owns; until one is connected, only what controls it may run in its lane. */
class OwnedSessions {
  readonly #sessions: Sessions;
  readonly #parts: SessionParts;
  readonly #report: SessionReport;
  readonly #owners = new Map<number, SessionOwner>();
  readonly #connected = new Set<number>();

  constructor(parts: SessionParts, report: SessionReport) {
    this.#parts = parts;
    this.#report = report;
    const { db, box, engine, drivers } = parts;
    const vault = createPairingVault({ db, box, node: engine.node.id });
    this.#sessions = createSessions({
      drivers,
      credentials: (id) =>
        createCredentialStore({ db, box, node: engine.node.id, lane: this.#laneOf(id), vault }),
      report: (id, event) => this.#store(id, event),
      findSent: (id, chat, messageId) => findSent(db, id, chat, messageId),
    });
  }

  connected(id: number): Session | undefined {
    return this.#connected.has(id) ? this.#sessions.get(id) : undefined;
  }

  open(id: number, network: Driver["network"]): Session {
    return this.#sessions.open(id, network);
  }

  /** A session that is closed reports no more, so it is followed here. */
  async close(id: number): Promise<void> {
    this.#follow(id, false);
    await this.#sessions.close(id);
  }

  /** False for an instance that is gone. */
  async take(lane: Lane): Promise<boolean> {
    const id = Number(lane.key);
    this.#parts.engine.openGroups(lane.id, [CONTROL_GROUP]);
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
    if (event.type === "connected") this.#follow(id, true);
    else if (ENDS.has(event.type)) this.#follow(id, false);
  }

  #follow(id: number, isConnected: boolean): void {
    if (isConnected) this.#connected.add(id);
    else this.#connected.delete(id);
    this.#parts.engine.openGroups(this.#laneOf(id).id, isConnected ? null : [CONTROL_GROUP]);
  }

  #laneOf(id: number): Lane {
    const lane = this.#parts.engine.laneOf("session", String(id));
    if (!lane) throw new Error(`This node does not own the session of instance ${id}.`);
    return lane;
  }
}

const ENDS = new Set<NetworkEvent["type"]>(["disconnected", "logged_out", "banned"]);
