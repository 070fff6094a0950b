import type { Engine, Lane } from "../../engine/engine.ts";
import type {
  Content,
  CredentialStore,
  Identity,
  Jid,
  MessageId,
  NetworkDriver,
  NetworkEvent,
  OriginalMessage,
  Session,
  UnsupportedMessage,
} from "../../network/driver.ts";
import { type Db, isTransientDatabaseError } from "../../platform/db/database.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import { CONTROL_JOB_GROUP } from "../instances/instances.ts";
import { createCredentialStore } from "./credential-store.ts";
import type { SessionOpener } from "./open-session.ts";
import type { PresenceUpdater } from "./presence-updater.ts";
import type { SessionOptions } from "./read-session-options.ts";
import { createSealedPairingStore, type SealedPairingStore } from "./sealed-pairing-store.ts";
import type { SessionEventRecorder, SessionInstance } from "./session-event-recorder.ts";

export interface OwnedSessionsDeps {
  db: Db;
  engine: Pick<Engine, "node" | "isSafe" | "findOwnedLane" | "limitToGroups">;
  box: SecretBox;
  drivers: readonly NetworkDriver[];
  /** Finds a sent message by its id. */
  findSent(instanceId: number, chat: Jid, id: MessageId): Promise<Content | undefined>;
  isNewChat(instanceId: number, chat: Jid): Promise<boolean>;
  /** Finds the message that a change is about. */
  findOriginal(instanceId: number, chat: Jid, id: MessageId): Promise<OriginalMessage | undefined>;
  /** Whether the person may delete what others write in the chat. */
  mayDelete(instanceId: number, chat: Jid, by: Identity): Promise<boolean>;
  /** Finds the latest messages that could not be read. */
  findUnsupported(instanceId: number): Promise<UnsupportedMessage[]>;
  recorder: SessionEventRecorder;
  presence: PresenceUpdater;
  /** Fails the waiting sends of instances that will not reconnect by themselves. */
  failStuckSendsSoon(): Promise<void>;
}

/** The sessions whose lanes this node owns. Until a session is connected, its lane runs only control jobs. */
export class OwnedSessions implements SessionOpener {
  readonly #deps: OwnedSessionsDeps;
  readonly #pairingStore: SealedPairingStore;
  /** At most one per instance; the caller of `open` connects it. */
  readonly #open = new Map<number, Session>();
  readonly #owners = new Map<number, SessionInstance>();
  readonly #connected = new Set<number>();

  constructor(deps: OwnedSessionsDeps) {
    this.#deps = deps;
    const { db, box, engine } = deps;
    this.#pairingStore = createSealedPairingStore({ db, box, node: engine.node.id });
  }

  /** Undefined while this node must not act: after a pause, another node may own its sessions. */
  connected(id: number): Session | undefined {
    return this.#connected.has(id) ? this.opened(id) : undefined;
  }

  /** Like `connected`, but also while the instance is being paired. */
  opened(id: number): Session | undefined {
    return this.#deps.engine.isSafe() ? this.#open.get(id) : undefined;
  }

  open(id: number, network: NetworkDriver["network"], options: SessionOptions): Session {
    const known = this.#open.get(id);
    if (known) return known;
    this.#deps.presence.opened(id, options.markOnline ?? false);
    const session = this.#start(id, network, options);
    this.#open.set(id, session);
    return session;
  }

  /** A closed session reports no event, so its state is updated here. */
  async close(id: number): Promise<void> {
    this.#follow(id, false);
    await this.#end(id);
  }

  /** False if the instance no longer exists. */
  async claim(lane: Lane): Promise<boolean> {
    const id = Number(lane.key);
    this.#deps.engine.limitToGroups(lane.id, [CONTROL_JOB_GROUP]);
    const instance = await this.#deps.db
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
    await this.#end(id);
  }

  #start(id: number, network: NetworkDriver["network"], options: SessionOptions): Session {
    const { drivers, findSent, isNewChat, findOriginal, mayDelete, findUnsupported } = this.#deps;
    const driver = drivers.find((one) => one.network === network);
    if (!driver) throw new Error(`There is no driver for the network ${network}.`);
    const session = driver.open({
      ...options,
      instance_id: id,
      credentials: this.#credentialsOf(id),
      report: async (event) => {
        // Rejects a late event, so that the network delivers it again to the next session.
        if (this.#open.get(id) !== session) throw new Error("The session is closed.");
        await this.#store(id, event);
      },
      isTransientError: isTransientDatabaseError,
      findSent: (chat, messageId) => findSent(id, chat, messageId),
      isNewChat: (chat) => isNewChat(id, chat),
      findOriginal: (chat, messageId) => findOriginal(id, chat, messageId),
      mayDelete: (chat, by) => mayDelete(id, chat, by),
      findUnsupported: () => findUnsupported(id),
    });
    return session;
  }

  #credentialsOf(id: number): CredentialStore {
    const { db, box, engine, recorder } = this.#deps;
    const owner = this.#owners.get(id);
    return createCredentialStore({
      db,
      box,
      node: engine.node.id,
      lane: this.#laneOf(id),
      pairingStore: this.#pairingStore,
      ...(owner && {
        recordMessages: (messages, change) => recorder.recordMessages(owner, messages, change),
      }),
    });
  }

  /** Forgets the session first, so that it reports nothing more; the identity stays stored. */
  async #end(id: number): Promise<void> {
    const session = this.#open.get(id);
    this.#open.delete(id);
    await session?.disconnect();
  }

  async #store(id: number, event: NetworkEvent): Promise<void> {
    const owner = this.#owners.get(id);
    if (!owner) throw new Error(`This node does not own the session of instance ${id}.`);
    await this.#deps.recorder.record(owner, event);
    if (event.type === "logged_out" || event.type === "banned") await this.#deps.failStuckSendsSoon();
    if (event.type === "connected") this.#follow(id, true);
    else if (DISCONNECTS.has(event.type)) this.#follow(id, false);
  }

  #follow(id: number, isConnected: boolean): void {
    if (isConnected) this.#connected.add(id);
    else this.#connected.delete(id);
    if (isConnected) this.#deps.presence.connected(id);
    this.#deps.engine.limitToGroups(this.#laneOf(id).id, isConnected ? null : [CONTROL_JOB_GROUP]);
  }

  #laneOf(id: number): Lane {
    const lane = this.#deps.engine.findOwnedLane("session", String(id));
    if (!lane) throw new Error(`This node does not own the session of instance ${id}.`);
    return lane;
  }
}

const DISCONNECTS = new Set<NetworkEvent["type"]>(["disconnected", "logged_out", "banned"]);
