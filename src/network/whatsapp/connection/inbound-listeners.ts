import {
  type BaileysEventMap,
  type BinaryNode,
  decodeMessageNode,
  getBinaryNodeChild,
  proto,
  type WACallEvent,
  type WAMessage,
  type WASocket,
} from "baileys";
import type { ClientVersion } from "../../client-version.ts";
import type { NetworkEvent, UnsupportedContent } from "../../driver.ts";
import { ackReceiptsAfterCommit } from "../baileys-fixes/acknowledgements/ack-receipts-after-commit.ts";
import { ackStories } from "../baileys-fixes/acknowledgements/ack-stories.ts";
import { ackUnknownStanzas } from "../baileys-fixes/acknowledgements/ack-unknown-stanzas.ts";
import { addressOwnReceipts } from "../baileys-fixes/acknowledgements/address-own-receipts.ts";
import { allowConcurrentReceives } from "../baileys-fixes/allow-concurrent-receives.ts";
import { releaseEventBuffer } from "../baileys-fixes/offline-queue/release-event-buffer.ts";
import { orderMessagesPerChat } from "../baileys-fixes/order-messages-per-chat.ts";
import { withRawHistory } from "../baileys-fixes/with-raw-history.ts";
import type { ConnectionContext } from "../connection/connection-context.ts";
import type { WhatsAppRuntime } from "../connection/whatsapp-runtime.ts";
import { AccountListeners, type AccountListenersOptions } from "../inbound/account-listeners.ts";
import type { MessageChanges } from "../inbound/message-changes.ts";
import { OfflineQueue } from "../inbound/offline-queue.ts";
import { isHistorySync, type JournalEntry } from "../journal/journal-entry.ts";
import type { GroupMetadataCache } from "../keys/group-metadata-cache.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import type { ItemCache } from "../keys/session-caches.ts";
import type { PendingAcks } from "../outbound/pending-acks.ts";
import type { MessageOrder } from "../stanzas/message-order.ts";
import { isPeerMessage, listRecipientsOf, unavailableKindOf } from "../stanzas/stanza.ts";
import { readWithoutContent } from "../wire/read-inbound-message.ts";
import { readReceipt } from "../wire/read-receipt.ts";
import { SyncListeners } from "./sync-listeners.ts";

const SECONDS = /^\d{1,10}$/;

export interface InboundListenersOptions {
  runtime: Pick<WhatsAppRuntime, "timing" | "versions" | "onUnknownStanza">;
  sock: WASocket;
  /** With which the connection logs in. */
  version: ClientVersion | undefined;
  context: ConnectionContext;
  acks: PendingAcks;
  groupMetadata: GroupMetadataCache;
  reported: ItemCache<string>;
  downloadMedia: AccountListenersOptions["downloadMedia"];
}

const CIPHERTEXT = proto.WebMessageInfo.StubType.CIPHERTEXT;
const UNDECRYPTED: UnsupportedContent = { kind: "unsupported", name: "encrypted", reason: "undecryptable" };

/** Listens to one socket; messages themselves come from the journal. */
export class InboundListeners {
  readonly #options: InboundListenersOptions;
  readonly #sync: SyncListeners;
  readonly #account: AccountListeners;
  readonly #order: MessageOrder;
  readonly #offlineQueue: OfflineQueue;
  #history: JournalEntry[] = [];
  /** Time of the last stanza, on the clock of `performance`. */
  lastFrameAt = performance.now();

  constructor(options: InboundListenersOptions) {
    this.#options = options;
    this.#sync = new SyncListeners(options);
    const { sock, context, runtime } = options;
    const { keyStore, facts } = context;
    this.#account = new AccountListeners({ ...options, keyStore, facts });
    allowConcurrentReceives(sock);
    addressOwnReceipts(sock);
    ackStories(sock, (stanza) => context.journal.forget(stanza), runtime.onUnknownStanza);
    ackUnknownStanzas(sock, runtime.onUnknownStanza);
    this.#order = orderMessagesPerChat(
      sock,
      (stanza) => context.orderingKeyOf(stanza),
      (handle) => withRawHistory((raw, history) => this.#account.onHistory(raw, history), handle),
    );
    releaseEventBuffer(sock, runtime.timing.offlineMs);
    const withheld = { type: "attention", code: "queue_withheld" } as const;
    this.#offlineQueue = new OfflineQueue({
      sock,
      stalledMs: runtime.timing.stalledQueueMs,
      onWithheld: () => context.report("attention", Promise.resolve(withheld)),
    });
    this.#listenToStanzas(options);
    this.#listenToEvents(options);
  }

  /** Peer messages take effect only after their receipt; their entry stays until then. */
  onPeerMessage(entry: JournalEntry): void {
    // The sender chooses what the stanza says of itself.
    const isOwn = this.#options.context.identities.isMe(entry.stanza.from);
    if (isOwn) this.#account.onPeerMessage(entry);
    if (isOwn && isHistorySync(entry)) this.#history.push(entry);
    else void this.#completeWhenHandled(entry);
  }

  /** Repeats peer messages of our phone whose effect was lost. */
  replayPeerMessages(): void {
    const { sock, context } = this.#options;
    for (const entry of context.journal.unfinishedPeerEntries())
      sock.ws.emit("CB:message", context.journal.toStanza(entry));
  }

  close(): void {
    this.#offlineQueue.close();
  }

  #listenToStanzas({ runtime, sock, version, context, acks }: InboundListenersOptions): void {
    const { ws } = sock;
    ackReceiptsAfterCommit(sock, (node) =>
      context.reportDurably(context.orderingKeyOf(node.attrs), readReceipt(node, context.identities)),
    );
    ws.prependListener("CB:message", (node: BinaryNode) => {
      context.journal.registerStanza(node);
      // Receipts name the recipients of a broadcast list by one address.
      if (context.identities.isMe(node.attrs.participant))
        void context.identities.learn(listRecipientsOf(node)).catch(() => {});
      this.#onUnavailable(node);
    });
    ws.on("frame", () => {
      this.lastFrameAt = performance.now();
    });
    ws.on("CB:ib", (node: BinaryNode) => {
      const at = readClientExpiration(node);
      if (at !== undefined && version) runtime.versions?.reportExpiration(version, at);
    });
    ws.on("CB:ack,class:message", (node: BinaryNode) => void acks.handleAck(node));
    ws.on("CB:ack,class:receipt", ({ attrs }: BinaryNode) => {
      // A retry requests the message; it does not confirm that we have it.
      if (attrs.type !== "retry") context.journal.markAcknowledged(attrs.id ?? "");
    });
  }

  #listenToEvents({ sock: { ev }, context }: InboundListenersOptions): void {
    ev.on("creds.update", () => context.keyStore.markCredentialsDirty());
    ev.on("call", (phoneCalls) => {
      for (const phoneCall of phoneCalls)
        context.report(phoneCall.from, readPhoneCall(phoneCall, context.identities));
    });
    ev.on("messages.upsert", ({ messages, requestId }) => {
      for (const message of messages) this.#onMessage(message, requestId !== undefined);
    });
    ev.on("messaging-history.set", (history) => void this.#onHistory(history));
  }

  /**
   * Handles messages without a journal entry: undecryptable ones, and the copies that our phone sends
   * instead.
   */
  #onMessage(message: WAMessage, isFromPhone: boolean): void {
    const { context } = this.#options;
    const stanza = toStanzaAttributes(message);
    if (isFromPhone) context.report(context.orderingKeyOf(stanza), context.changes.read({ message, stanza }));
    else if (message.messageStubType === CIPHERTEXT)
      context.report(
        context.orderingKeyOf(stanza),
        readWithoutContent({ message, stanza }, UNDECRYPTED, context.identities),
      );
  }

  /** The network tells of a message that linked devices do not get. */
  #onUnavailable(node: BinaryNode): void {
    const { sock, context } = this.#options;
    const name = unavailableKindOf(node);
    if (!name || isPeerMessage(node.attrs)) return;
    const { id = "", lid = "" } = sock.authState.creds.me ?? {};
    const content = {
      kind: "unsupported",
      name,
      reason: name === "viewOnce" ? "view_once" : "unknown_kind",
    } as const;
    const report = async () => {
      const { fullMessage: message } = decodeMessageNode(node, id, lid);
      return readWithoutContent({ message, stanza: node.attrs }, content, context.identities);
    };
    context.report(context.orderingKeyOf(node.attrs), report());
  }

  async #onHistory(history: BaileysEventMap["messaging-history.set"]): Promise<void> {
    const { context } = this.#options;
    const entries = this.#history.splice(0);
    const report = (event: NetworkEvent) => context.reporter.report("history", Promise.resolve(event));
    try {
      await reportHistory(history.messages, context.changes, report);
      await this.#sync.reportHistory(history);
    } catch {
      // The next connection reports it again.
      return;
    }
    for (const entry of entries) context.journal.completePeerEntry(entry.stanza);
  }

  async #completeWhenHandled({ stanza }: JournalEntry): Promise<void> {
    await this.#order.whenAloneHandled();
    this.#options.context.journal.completePeerEntry(stanza);
  }
}

const HISTORY_AT_ONCE = 50;

/** Reports messages from before the pairing, as history. */
async function reportHistory(
  messages: readonly WAMessage[],
  changes: MessageChanges,
  report: (event: NetworkEvent) => Promise<void>,
): Promise<void> {
  for (let i = 0; i < messages.length; i += HISTORY_AT_ONCE) {
    const events = await Promise.all(
      messages.slice(i, i + HISTORY_AT_ONCE).map((one) => readHistory(one, changes)),
    );
    await Promise.all(events.map((event) => event && report(event)));
  }
}

async function readHistory(message: WAMessage, changes: MessageChanges): Promise<NetworkEvent | undefined> {
  const read = await changes.readMessage({ message, stanza: toStanzaAttributes(message) });
  return read && { type: "message", message: { ...read, history: true } };
}

/** The attributes that the message's stanza would have had. */
function toStanzaAttributes({ key, messageTimestamp }: WAMessage): Record<string, string> {
  const chat = key.remoteJid ?? "";
  const writer = key.participant || undefined;
  const alias = key.participantAlt || key.remoteJidAlt;
  return {
    from: chat,
    id: key.id ?? "",
    t: String(messageTimestamp ?? ""),
    ...(key.fromMe && !writer && { recipient: chat }),
    ...(writer && { participant: writer }),
    ...(writer && alias && { participant_pn: alias }),
    ...(!writer && !key.fromMe && key.remoteJidAlt && { sender_pn: key.remoteJidAlt }),
  };
}

/**
 * When the network intends to refuse the client version of the connection; null: it has withdrawn that. Undefined if
 * the node names no time, or none that can be read.
 */
function readClientExpiration(node: BinaryNode): Date | null | undefined {
  const expiration = getBinaryNodeChild(node, "client_expiration");
  if (!expiration) return undefined;
  const { t } = expiration.attrs;
  if (t === undefined) return null;
  return SECONDS.test(t) ? new Date(Number(t) * 1000) : undefined;
}

/** The event of a ringing phone call; undefined for later changes of a call. */
async function readPhoneCall(
  event: WACallEvent,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  if (event.status !== "offer") return undefined;
  const from = await identities.identify(event.from, event.callerPn);
  return (
    from && { type: "call_received", from, call_id: event.id, video: event.isVideo ?? false, at: event.date }
  );
}
