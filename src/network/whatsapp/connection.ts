import type { GroupMetadata, SocketConfig, WACallEvent, WASocket } from "baileys";
import { cutText } from "../cut-text.ts";
import type { Identity, OpenOptions } from "../driver.ts";
import { Acks } from "./acks.ts";
import { askPhones } from "./ask-phones.ts";
import { atMost } from "./at-most.ts";
import { Desk, type DeskOptions } from "./desk.ts";
import { DeviceCache } from "./device-cache.ts";
import { Directory } from "./directory.ts";
import { download, type OnChunk } from "./download.ts";
import { NOT_OURS } from "./endings.ts";
import { FileHosts } from "./file-hosts.ts";
import { Groups } from "./groups.ts";
import { Hearing } from "./hearing.ts";
import type { JournalEntry } from "./journal-entry.ts";
import { MemberAddresses } from "./member-addresses.ts";
import { type Calls, openCalls } from "./open-calls.ts";
import { Outbox } from "./outbox.ts";
import { omitOwnDevice } from "./own-device.ts";
import { createRatchets } from "./ratchets.ts";
import { findAgain } from "./resend.ts";
import { type Ending, LOST, type OpenSocket, openSocket, SILENT } from "./socket.ts";
import { keepTrustedTokens } from "./trusted-tokens.ts";
import { type Way, wayOf } from "./way.ts";

export type ConnectionOptions = Omit<DeskOptions, "onLost" | "onPeer"> &
  Pick<OpenOptions, "findSent" | "proxy" | "lookup" | "markOnline">;

const PLATFORM_MAX = 40;
const LOCK_QUERY_MS = 3_000;
const STOPPED: Ending = { code: LOST, detail: "closed by us" };

/** One connection with an identity, from the login to its end; nothing in it outlives it. */
export class Connection {
  readonly outbox: Outbox;
  readonly calls: Calls & { endAll(): void };
  /** Resolves with why it is over. */
  readonly closed: Promise<Ending>;
  readonly #options: ConnectionOptions;
  readonly #desk: Desk;
  readonly #groups: Groups;
  readonly #members: MemberAddresses;
  readonly #acks: Acks;
  readonly #devices: DeviceCache;
  readonly #socket: OpenSocket;
  readonly #hearing: Hearing;
  readonly #watch: NodeJS.Timeout;
  readonly #way: Way;
  readonly #hosts: FileHosts;
  #settled: Promise<void> = Promise.resolve();
  #isAbandoned = false;

  /** Takes up what earlier connections left behind, and then connects. */
  static async begin(options: ConnectionOptions): Promise<Connection> {
    let connection: Connection | undefined;
    const desk = new Desk({
      ...options,
      onLost: () => connection?.end({ code: NOT_OURS, detail: "the pairing is somebody else's" }),
      onPeer: (entry) => connection?.hearPeer(entry),
    });
    try {
      await desk.inbox.replay();
      connection = new Connection(options, desk);
      return connection;
    } catch (error) {
      desk.close();
      throw error;
    }
  }

  private constructor(options: ConnectionOptions, desk: Desk) {
    const { hub, caches, creds, markOnline } = options;
    this.#hosts = new FileHosts({
      ...(hub.url !== undefined && { networkUrl: hub.url }),
      named: () => this.#socket?.sock.getMediaHost(),
    });
    const way = wayOf(options, hub.egress, this.#hosts);
    this.#way = way;
    this.#options = options;
    this.#desk = desk;
    this.#groups = new Groups(caches.store("group"));
    this.#members = new MemberAddresses({ people: desk.people, groupOf: (jid) => this.#groupOf(jid) });
    this.#devices = new DeviceCache(caches.store("devices"), desk.store);
    this.#acks = new Acks({
      lockedUntil: () => this.#lockedUntil(),
      isConnected: () => this.#socket.sock.ws.isOpen,
    });
    this.#socket = openSocket({ hub, creds, keys: desk.store, way, markOnline, config: this.#config() });
    const { sock, closed } = this.#socket;
    keepTrustedTokens(sock.authState.keys, desk.store);
    omitOwnDevice(sock);
    this.closed = closed;
    const told = caches.store<string>("told");
    this.#hearing = new Hearing({ sock, desk, acks: this.#acks, groups: this.#groups, told });
    this.outbox = this.#openOutbox(sock);
    const ringing = caches.store<WACallEvent>("call");
    this.calls = openCalls({
      sock,
      hosts: this.#hosts,
      people: desk.people,
      groups: this.#groups,
      ringing,
      told,
    });
    this.#watch = setInterval(() => this.#listenForLife(), hub.timing.deafMs / 4).unref();
    void closed.then(() => this.#drop());
  }

  get me(): Identity {
    return this.#desk.people.me;
  }

  /** The system of the phone that it is paired with, such as `android`, as the phone names it. */
  get platform(): string {
    return cutText(this.#options.creds.platform || "whatsapp", PLATFORM_MAX);
  }

  /** Whether the login was done; false when the connection ended before. */
  async opened(): Promise<boolean> {
    const { sock } = this.#socket;
    const late = setTimeout(
      () => this.end({ code: SILENT, detail: "the network did not answer" }),
      this.#options.hub.timing.connectMs,
    );
    const open = new Promise<boolean>((resolve) => {
      sock.ev.on("connection.update", ({ connection }) => connection === "open" && resolve(true));
    });
    const isOpen = await Promise.race([open, this.closed.then(() => false)]);
    clearTimeout(late);
    if (isOpen) this.#greet();
    return isOpen;
  }

  #greet(): void {
    this.#hearing.repeatPeers();
    // The client library itself says nothing as long as it does not know our name.
    if (this.#options.markOnline && !this.me.push_name) void this.outbox.setPresence("available");
  }

  /** Ends it in order: what is under way is reported and kept. */
  async close(): Promise<void> {
    await this.#desk.finish();
    this.end(STOPPED);
  }

  /** Resolves when it is closed and nothing of it is under way any more. */
  async over(): Promise<Ending> {
    const ending = await this.closed;
    await this.#settled;
    return ending;
  }

  end(ending: Ending): void {
    this.#socket.end(ending);
  }

  /** Removes this device from the account; resolves when the network has confirmed it, or does not answer in time. */
  async unlink(): Promise<void> {
    const { sock } = this.#socket;
    const { timing } = this.#options.hub;
    const jid = sock.authState.creds.me?.id ?? "";
    const removal = { tag: "remove-companion-device", attrs: { jid, reason: "user_initiated" } };
    const query = sock.query({
      tag: "iq",
      attrs: { to: "s.whatsapp.net", type: "set", xmlns: "md" },
      content: [removal],
    });
    // The network may close the connection in place of an answer.
    await atMost(Promise.race([query, this.closed]), timing.logoutMs);
  }

  /** As the death of the process: nothing settles any more, and nobody is told goodbye. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#desk.close();
    this.end(STOPPED);
  }

  /** What our own phone told is kept. */
  hearPeer(entry: JournalEntry): void {
    this.#hearing.onPeer(entry);
  }

  download(ref: unknown, onChunk: OnChunk): Promise<"done" | "gone"> {
    const { sock } = this.#socket;
    const { timing } = this.#options.hub;
    return download(ref, onChunk, {
      hosts: this.#hosts,
      learnHosts: () => sock.refreshMediaConn(false),
      fetchFile: this.#way.fetchFile,
      askPhones: (lost) => askPhones(sock, lost, timing.phoneMs),
    });
  }

  #config(): Partial<SocketConfig> {
    const { caches, findSent } = this.#options;
    const { store, inbox, people } = this.#desk;
    return {
      makeSignalRepository: createRatchets({ store, inbox, people }),
      getMessage: (key) => findAgain(key, { people, members: this.#members, findSent }),
      cachedGroupMetadata: (jid) => this.#groupOf(jid),
      userDevicesCache: this.#devices,
      msgRetryCounterCache: caches.store("retry"),
      callOfferCache: caches.store("call"),
      placeholderResendCache: caches.store("resend"),
    };
  }

  #groupOf(jid: string): Promise<GroupMetadata> {
    return this.#groups.get(jid, () => this.#socket.sock.groupMetadata(jid));
  }

  #openOutbox(sock: WASocket): Outbox {
    const { people } = this.#desk;
    const directory = new Directory({ sock, people, devices: this.#devices });
    const { options: requests } = this.#way;
    return new Outbox({ sock, acks: this.#acks, people, members: this.#members, directory, requests });
  }

  /** A connection that brings nothing, not even answers to the pings of the client library, is deaf. */
  #listenForLife(): void {
    const silentMs = performance.now() - this.#hearing.heardAt;
    if (silentMs > this.#options.hub.timing.deafMs) {
      this.end({ code: SILENT, detail: `nothing was heard for ${Math.round(silentMs / 1000)} s` });
    }
  }

  async #lockedUntil(): Promise<Date | undefined> {
    const lock = await atMost(this.#socket.sock.fetchAccountReachoutTimelock(), LOCK_QUERY_MS);
    return lock?.isActive ? lock.timeEnforcementEnds : undefined;
  }

  #drop(): void {
    clearInterval(this.#watch);
    this.#acks.endAll();
    this.calls.endAll();
    this.#settled = this.#isAbandoned ? Promise.resolve() : this.#desk.settle();
  }
}
