import type { GroupMetadata } from "baileys";
import type { NetworkEvent, OpenSessionOptions, PairingStore } from "../../driver.ts";
import { withTimeout } from "../../with-timeout.ts";
import { EventReporter } from "../inbound/event-reporter.ts";
import { type DecryptedMessage, InboundJournal } from "../inbound/inbound-journal.ts";
import { type BaileysCredentials, serializeCredentials } from "../keys/baileys-credentials.ts";
import { IdentityStore } from "../keys/identity-store.ts";
import type { SessionCaches } from "../keys/session-caches.ts";
import { WriteBehindKeyStore } from "../keys/write-behind-key-store.ts";
import { membersByAddress } from "../outbound/member-addresses.ts";
import type { JournalEntry } from "../wire/journal-entry.ts";
import { plainJid } from "../wire/plain-jid.ts";
import { readInboundMessage } from "../wire/read-inbound-message.ts";
import { ConnectionClosedError } from "./connection-closed-error.ts";
import type { WhatsAppRuntime } from "./whatsapp-runtime.ts";

export interface ConnectionContextOptions {
  hub: WhatsAppRuntime;
  caches: SessionCaches;
  keys: PairingStore;
  creds: BaileysCredentials;
  report: OpenSessionOptions["report"];
  /** Nothing can be stored any more: another process owns the pairing, or it has ended. */
  onLost(): void;
  /** A peer message of our own phone is stored. */
  onPeer(entry: JournalEntry): void;
}

/**
 * Stores the Signal session state and journal entries of one connection and reports the entries; nothing
 * outlives it.
 */
export class ConnectionContext {
  readonly store: WriteBehindKeyStore;
  readonly reports: EventReporter;
  readonly people: IdentityStore;
  readonly inbox: InboundJournal;
  readonly #options: ConnectionContextOptions;

  constructor(options: ConnectionContextOptions) {
    this.#options = options;
    const { hub, caches, keys, creds, report, onLost, onPeer } = options;
    const { retryMs } = hub.timing;
    const onFailure = (error: unknown) => hub.log?.warn({ err: error }, "whatsapp: not kept yet");
    const credentials = () => serializeCredentials(creds);
    const me = () => creds.me ?? { id: "" };
    this.store = new WriteBehindKeyStore({ keys, caches, credentials, retryMs, onLost, onFailure });
    this.reports = new EventReporter({ report, retryMs, onFailure });
    const addressing = caches.store<string>("address");
    const groups = caches.store<GroupMetadata>("group");
    const membersOf = (group: string) => {
      const known = groups.get(group);
      return known && membersByAddress(known);
    };
    this.people = new IdentityStore({ keys: this.store, me, addressing, membersOf });
    this.inbox = new InboundJournal({
      letters: (ids) => keys.letters(ids),
      store: this.store,
      me,
      deliver: (stanza, arrived, isReplay) =>
        this.reports.tell(orderingKeyOf(stanza), this.#read(arrived, isReplay)),
      onPeer,
      onFailure,
    });
  }

  /** Reports an event in the order of its chat; ignores an event that cannot be read. */
  tell(chat: string, event: Promise<NetworkEvent | undefined>): void {
    void this.reports.tell(chat, event).catch(() => {});
  }

  /**
   * Like `tell`; resolves with whether the network may delete the message, because it is stored or
   * unreadable.
   */
  async keep(chat: string, events: Promise<readonly NetworkEvent[]>): Promise<boolean> {
    try {
      await this.reports.tell(chat, events);
      return true;
    } catch (error) {
      return !(error instanceof ConnectionClosedError);
    }
  }

  /** Waits for the current work; the next connection handles the rest. */
  async finish(): Promise<void> {
    const finished = this.reports.finish().then(() => this.store.finish());
    await withTimeout(finished, this.#options.hub.timing.finishMs);
  }

  /**
   * After the end of the connection: no Signal state changes any more, and the reports done so far are
   * stored.
   */
  async settle(): Promise<void> {
    const { closeMs } = this.#options.hub.timing;
    this.store.close();
    await withTimeout(this.reports.finish(), closeMs);
    this.reports.close();
    await withTimeout(this.store.keepLeft(), closeMs);
  }

  /** Acts like the death of the process: pending work never resolves. */
  close(): void {
    this.reports.close();
    this.store.close();
  }

  async #read(
    arriving: Promise<DecryptedMessage | undefined>,
    isReplay: boolean,
  ): Promise<NetworkEvent | undefined> {
    const arrived = await arriving;
    const event = arrived && (await readInboundMessage(arrived, this.people));
    if (event?.type !== "message" || !isReplay) return event;
    return { type: "message", message: { ...event.message, offline: true } };
  }
}

/** One key for all messages of a chat, even if the network uses two addresses for it. */
export function orderingKeyOf(stanza: Record<string, string>): string {
  const { from = "", recipient, participant, sender_pn, recipient_pn, peer_recipient_pn } = stanza;
  const address = recipient
    ? (peer_recipient_pn ?? recipient_pn ?? recipient)
    : participant
      ? from
      : (sender_pn ?? from);
  return plainJid(address) ?? address;
}
