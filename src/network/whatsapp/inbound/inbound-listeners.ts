import { type BaileysEventMap, type BinaryNode, proto, type WAMessage, type WASocket } from "baileys";
import type { NetworkEvent } from "../../driver.ts";
import { ackReceiptsAfterCommit } from "../baileys-fixes/ack-receipts-after-commit.ts";
import { orderMessagesPerChat } from "../baileys-fixes/order-messages-per-chat.ts";
import { type ConnectionContext, orderingKeyOf } from "../connection/connection-context.ts";
import type { ItemCache } from "../keys/session-caches.ts";
import type { GroupMetadataCache } from "../outbound/group-metadata-cache.ts";
import type { PendingAcks } from "../outbound/pending-acks.ts";
import { isHistorySync, type JournalEntry } from "../wire/journal-entry.ts";
import { readPhoneCall } from "../wire/phone-calls.ts";
import { readInboundMessage, readUndecryptedMessage } from "../wire/read-inbound-message.ts";
import { readReceipt } from "../wire/read-receipt.ts";
import { reportHistory, toStanzaAttributes } from "./report-history.ts";
import { SyncListeners } from "./sync-listeners.ts";

export interface InboundListenersOptions {
  sock: WASocket;
  desk: ConnectionContext;
  acks: PendingAcks;
  groups: GroupMetadataCache;
  told: ItemCache<string>;
}

const CIPHERTEXT = proto.WebMessageInfo.StubType.CIPHERTEXT;

/** Listens to one socket; messages themselves come from the journal. */
export class InboundListeners {
  readonly #options: InboundListenersOptions;
  readonly #news: SyncListeners;
  #history: JournalEntry[] = [];
  /** Time of the last stanza, on the clock of `performance`. */
  heardAt = performance.now();

  constructor(options: InboundListenersOptions) {
    this.#options = options;
    this.#news = new SyncListeners(options);
    this.#listenToStanzas(options);
    this.#listenToEvents(options);
  }

  /** Peer messages take effect only after their receipt; their entry stays until then. */
  onPeer(entry: JournalEntry): void {
    if (isHistorySync(entry)) this.#history.push(entry);
    else void this.#afterHandling(() => this.#options.desk.inbox.finishPeer(entry.stanza));
  }

  /** Repeats peer messages of our phone whose effect was lost. */
  repeatPeers(): void {
    const { sock, desk } = this.#options;
    for (const entry of desk.inbox.openPeerEntries()) sock.ws.emit("CB:message", desk.inbox.toStanza(entry));
  }

  #listenToStanzas({ sock, desk, acks }: InboundListenersOptions): void {
    const { ws } = sock;
    orderMessagesPerChat(sock, orderingKeyOf);
    ackReceiptsAfterCommit(sock, (node) =>
      desk.keep(orderingKeyOf(node.attrs), readReceipt(node, desk.people)),
    );
    ws.prependListener("CB:message", (node: BinaryNode) => desk.inbox.expect(node));
    ws.on("frame", () => {
      this.heardAt = performance.now();
    });
    ws.on("CB:ack,class:message", (node: BinaryNode) => void acks.hear(node));
    ws.on("CB:ack,class:receipt", ({ attrs }: BinaryNode) => {
      // A retry requests the message; it does not confirm that we have it.
      if (attrs.type !== "retry") desk.inbox.receipted(attrs.id ?? "");
    });
  }

  #listenToEvents({ sock: { ev }, desk }: InboundListenersOptions): void {
    ev.on("creds.update", () => desk.store.touchCredentials());
    ev.on("call", (calls) => {
      for (const call of calls) desk.tell(call.from, readPhoneCall(call, desk.people));
    });
    ev.on("messages.upsert", ({ messages, requestId }) => {
      for (const message of messages) this.#hearMessage(message, requestId !== undefined);
    });
    ev.on("messaging-history.set", (history) => void this.#hearHistory(history));
  }

  /**
   * Handles messages without a journal entry: undecryptable ones, and the copies that our phone sends
   * instead.
   */
  #hearMessage(message: WAMessage, isFromPhone: boolean): void {
    const { desk } = this.#options;
    const stanza = toStanzaAttributes(message);
    const isUnreadable =
      message.messageStubType === CIPHERTEXT || (!message.message && message.key.isViewOnce);
    if (isFromPhone) desk.tell(orderingKeyOf(stanza), readInboundMessage({ message, stanza }, desk.people));
    else if (isUnreadable) desk.tell(orderingKeyOf(stanza), readUndecryptedMessage(message, desk.people));
  }

  async #hearHistory(history: BaileysEventMap["messaging-history.set"]): Promise<void> {
    const { desk } = this.#options;
    const entries = this.#history.splice(0);
    const tell = (event: NetworkEvent) => desk.reports.tell("history", Promise.resolve(event));
    try {
      await reportHistory(history.messages, desk.people, tell);
      await this.#news.tellHistory(history);
    } catch {
      // The next connection reports it again.
      return;
    }
    for (const entry of entries) desk.inbox.finishPeer(entry.stanza);
  }

  /** Waits for the handling of the current message; Baileys handles messages sequentially. */
  async #afterHandling(act: () => void): Promise<void> {
    await this.#options.sock.messageMutex.mutex(async () => {});
    act();
  }
}
