import type { GroupMetadata, proto, SocketConfig, WACallEvent, WAMessageKey, WASocket } from "baileys";
import { truncateText } from "../../content/truncate-text.ts";
import type { Identity, OpenSessionOptions } from "../../driver.ts";
import { isGroupJid } from "../../jid.ts";
import { resultWithin } from "../../result-within.ts";
import { excludeOwnDevice } from "../baileys-fixes/exclude-own-device.ts";
import { persistTrustedTokens } from "../baileys-fixes/persist-trusted-tokens.ts";
import { releaseTransactions } from "../baileys-fixes/release-transactions.ts";
import { resendWithTokens } from "../baileys-fixes/resend-with-tokens.ts";
import { downloadMedia, type OnChunk } from "../files/download-media.ts";
import { requestMediaReupload } from "../files/request-media-reupload.ts";
import type { JournalEntry } from "../journal/journal-entry.ts";
import { createSignalRepository } from "../journal/signal-repository.ts";
import { ContactTokens } from "../keys/contact-tokens.ts";
import { GroupMetadataCache } from "../keys/group-metadata-cache.ts";
import type { ItemCache } from "../keys/session-caches.ts";
import { MediaHosts } from "../media-hosts.ts";
import {
  type ConnectionOperations,
  createConnectionOperations,
} from "../operations/connection-operations.ts";
import { unlinkDevice } from "../operations/unlink-device.ts";
import { ChatTimers } from "../outbound/chat-timers.ts";
import { DeviceCache } from "../outbound/device-cache.ts";
import { DeviceLookup } from "../outbound/device-lookup.ts";
import { findMessageToResend } from "../outbound/find-message-to-resend.ts";
import { findNewChatLock } from "../outbound/find-new-chat-lock.ts";
import { MemberAddresses } from "../outbound/member-addresses.ts";
import { Outbox } from "../outbound/outbox.ts";
import { OwnChanges } from "../outbound/own-changes.ts";
import { PendingAcks } from "../outbound/pending-acks.ts";
import { createSessionTransport, type SessionTransport } from "../session-transport.ts";
import {
  type BaileysSocket,
  CONNECTION_LOST_CODE,
  openBaileysSocket,
  type SocketClose,
  TIMED_OUT_CODE,
} from "./baileys-socket.ts";
import { ConnectionContext, type ConnectionContextOptions } from "./connection-context.ts";
import { PAIRING_LOST_CODE } from "./disconnect-action.ts";
import { InboundListeners } from "./inbound-listeners.ts";

export type WhatsAppConnectionOptions = Omit<ConnectionContextOptions, "onLost" | "onPeerMessage"> &
  Pick<OpenSessionOptions, "findSent" | "isNewChat" | "proxy" | "lookup" | "markOnline">;

const PLATFORM_MAX = 40;
const STOPPED: SocketClose = { code: CONNECTION_LOST_CODE, detail: "closed by us" };

/** One connection with an identity, from the login to its end; nothing in it outlives it. */
export class WhatsAppConnection {
  readonly outbox: Outbox;
  readonly operations: ConnectionOperations & { endAll(): void };
  /** Resolves with the reason why the connection ended. */
  readonly closed: Promise<SocketClose>;
  readonly #options: WhatsAppConnectionOptions;
  readonly #context: ConnectionContext;
  readonly #groups: GroupMetadataCache;
  readonly #members: MemberAddresses;
  readonly #timers: ChatTimers;
  readonly #acks: PendingAcks;
  readonly #devices: DeviceCache;
  readonly #socket: BaileysSocket;
  readonly #listeners: InboundListeners;
  readonly #watch: NodeJS.Timeout;
  readonly #transport: SessionTransport;
  readonly #hosts: MediaHosts;
  #work: Promise<void> = Promise.resolve();
  #isAbandoned = false;

  /** Reports the entries that earlier connections left behind, and then connects. */
  static async begin(options: WhatsAppConnectionOptions): Promise<WhatsAppConnection> {
    let connection: WhatsAppConnection | undefined;
    const { runtime, caches, keys, creds, report } = options;
    const context = new ConnectionContext({
      runtime,
      caches,
      keys,
      creds,
      report,
      findOriginal: options.findOriginal,
      mayDelete: options.mayDelete,
      findUnsupported: options.findUnsupported,
      onLost: () =>
        connection?.endWith({ code: PAIRING_LOST_CODE, detail: "the pairing belongs to another process" }),
      onPeerMessage: (entry) => connection?.handlePeerMessage(entry),
    });
    try {
      await context.replay();
      connection = new WhatsAppConnection(options, context);
      return connection;
    } catch (error) {
      context.close();
      throw error;
    }
  }

  private constructor(options: WhatsAppConnectionOptions, context: ConnectionContext) {
    const { runtime, caches, creds, markOnline } = options;
    this.#hosts = new MediaHosts({
      ...(runtime.url !== undefined && { networkUrl: runtime.url }),
      named: () => this.#socket?.sock.getMediaHost(),
    });
    const transport = createSessionTransport(options, runtime.egress, this.#hosts);
    this.#transport = transport;
    this.#options = options;
    this.#context = context;
    this.#groups = new GroupMetadataCache(caches.createCache("group"));
    const { keyStore, identities, facts } = context;
    this.#members = new MemberAddresses({ identities, groupOf: (jid) => this.#groupOf(jid) });
    this.#timers = new ChatTimers({
      store: context.timers,
      creds,
      groupOf: (jid) => this.#groupOf(jid),
      isNewChat: options.isNewChat,
    });
    this.#devices = new DeviceCache(caches.createCache("devices"), keyStore);
    this.#acks = new PendingAcks({
      lockedUntil: () => findNewChatLock(this.#socket.sock),
      isConnected: () => this.#socket.sock.ws.isOpen,
    });
    this.#socket = openBaileysSocket({
      runtime,
      creds,
      keys: keyStore,
      transport,
      markOnline,
      config: this.#config(),
    });
    const { sock, closed, version } = this.#socket;
    this.#repair(sock);
    this.closed = closed;
    const reported = caches.createCache<string>("reported");
    this.#listeners = new InboundListeners({
      runtime,
      sock,
      version,
      context,
      acks: this.#acks,
      groupMetadata: this.#groups,
      reported,
      downloadMedia: (ref, onChunk) => this.downloadMedia(ref, onChunk),
    });
    const tokens = new ContactTokens({ sock, caches, keyStore, identities, facts });
    this.outbox = this.#openOutbox(sock, tokens);
    this.operations = this.#openOperations(sock, tokens, reported);
    this.#watch = setInterval(() => this.#check(), runtime.timing.silentSocketMs / 4).unref();
    void closed.then(() => this.#drop());
  }

  get me(): Identity {
    return this.#context.identities.me;
  }

  /** The system of the paired phone, such as `android`, as the phone reports it. */
  get platform(): string {
    return truncateText(this.#options.creds.platform || "whatsapp", PLATFORM_MAX);
  }

  /** Whether the login succeeded; false if the connection ended first. */
  async opened(): Promise<boolean> {
    const { sock } = this.#socket;
    const late = setTimeout(
      () => this.endWith({ code: TIMED_OUT_CODE, detail: "the network did not respond" }),
      this.#options.runtime.timing.connectMs,
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
    this.#context.signedPreKeys.start(this.#socket.sock);
    this.#listeners.replayPeerMessages();
    this.#context.rereadUnsupported();
    // Baileys itself sends no presence until it knows our name.
    if (this.#options.markOnline && !this.me.push_name) void this.outbox.setPresence("available");
  }

  /** Graceful end: current work is reported and stored. */
  async close(): Promise<void> {
    await this.#context.drain();
    this.endWith(STOPPED);
  }

  /** Resolves when the connection is closed and all its work has ended. */
  async whenDone(): Promise<SocketClose> {
    const close = await this.closed;
    await this.#work;
    return close;
  }

  endWith(close: SocketClose): void {
    this.#socket.end(close);
  }

  /** Removes this device from the account; resolves when the network confirms it, or after a timeout. */
  async unlink(): Promise<void> {
    // The network may close the connection instead of responding.
    const unlinked = Promise.race([unlinkDevice(this.#socket.sock), this.closed]);
    await resultWithin(unlinked, this.#options.runtime.timing.logoutMs);
  }

  /** Acts like the death of the process: pending work never resolves, and the network is not notified. */
  terminate(): void {
    this.#isAbandoned = true;
    this.#context.close();
    this.endWith(STOPPED);
  }

  /** A peer message of our own phone is stored. */
  handlePeerMessage(entry: JournalEntry): void {
    this.#listeners.onPeerMessage(entry);
  }

  downloadMedia(ref: unknown, onChunk: OnChunk): Promise<"done" | "gone"> {
    const { sock } = this.#socket;
    const { timing } = this.#options.runtime;
    return downloadMedia(ref, onChunk, {
      hosts: this.#hosts,
      refreshHosts: () => sock.refreshMediaConn(false),
      fetchFile: this.#transport.fetchFile,
      requestReupload: (lost) => requestMediaReupload(sock, this.#context.identities, lost, timing.phoneMs),
    });
  }

  #config(): Partial<SocketConfig> {
    const { caches } = this.#options;
    return {
      makeSignalRepository: createSignalRepository(this.#context),
      // Direct messages are not sent again by Baileys.
      getMessage: async (key) => (isGroupJid(key.remoteJid ?? "") ? this.#findSent(key) : undefined),
      cachedGroupMetadata: (jid) => this.#groupOf(jid),
      userDevicesCache: this.#devices,
      msgRetryCounterCache: caches.createCache("retry"),
      callOfferCache: caches.createCache("call"),
      placeholderResendCache: caches.createCache("resend"),
    };
  }

  #repair(sock: WASocket): void {
    const { keyStore, identities } = this.#context;
    persistTrustedTokens(sock.authState.keys, keyStore);
    excludeOwnDevice(sock);
    releaseTransactions(sock);
    resendWithTokens({
      sock,
      identities,
      find: (key) => this.#findSent(key),
      introduce: (to, isForDevice) => this.outbox.introduce(to, isForDevice),
      counts: this.#options.caches.createCache<number>("resent"),
      onIgnored: (messages) => this.#options.runtime.onUnknownStanza("retry", messages),
    });
  }

  #findSent(key: WAMessageKey): Promise<proto.IMessage | undefined> {
    const { creds, findSent } = this.#options;
    const { identities } = this.#context;
    const sources = { identities, memberAddresses: this.#members, timers: this.#timers, creds, findSent };
    return findMessageToResend(key, sources);
  }

  #groupOf(jid: string): Promise<GroupMetadata> {
    return this.#groups.get(jid, () => this.#socket.sock.groupMetadata(jid));
  }

  #openOutbox(sock: WASocket, tokens: ContactTokens): Outbox {
    const { identities, facts } = this.#context;
    const groupOf = (jid: string) => this.#groupOf(jid);
    return new Outbox({
      sock,
      acks: this.#acks,
      identities,
      facts,
      tokens,
      memberAddresses: this.#members,
      timers: this.#timers,
      devices: new DeviceLookup({ sock, devices: this.#devices, identities }),
      groupOf,
      changes: new OwnChanges({ identities, facts, groupOf, findOriginal: this.#options.findOriginal }),
      requests: this.#transport.options,
    });
  }

  #openOperations(sock: WASocket, tokens: ContactTokens, reported: ItemCache<string>): this["operations"] {
    return createConnectionOperations({
      sock,
      tokens,
      hosts: this.#hosts,
      identities: this.#context.identities,
      groupMetadata: this.#groups,
      ringingCalls: this.#options.caches.createCache<WACallEvent>("call"),
      reported,
    });
  }

  /** Replaces a key that is due. Ends a connection that receives nothing, not even responses to Baileys' pings. */
  #check(): void {
    this.#context.signedPreKeys.rotateWhenDue();
    const silentMs = performance.now() - this.#listeners.lastFrameAt;
    if (silentMs > this.#options.runtime.timing.silentSocketMs) {
      this.endWith({
        code: TIMED_OUT_CODE,
        detail: `nothing was received for ${Math.round(silentMs / 1000)} s`,
      });
    }
  }

  #drop(): void {
    clearInterval(this.#watch);
    this.#listeners.close();
    this.#acks.rejectAll();
    this.operations.endAll();
    this.#work = this.#isAbandoned ? Promise.resolve() : this.#context.flush();
  }
}
