import type { GroupMetadata } from "baileys";
import type { NetworkEvent, OpenSessionOptions, PairingStore } from "../driver.ts";
import { ConnectionClosedError } from "./ignore-baileys-rejections.ts";
import { EventReporter } from "./inbound/event-reporter.ts";
import { type DecryptedMessage, InboundJournal } from "./inbound/inbound-journal.ts";
import { type BaileysCredentials, serializeCredentials } from "./keys/baileys-credentials.ts";
import { IdentityStore } from "./keys/identity-store.ts";
import type { SessionCaches } from "./keys/session-caches.ts";
import { WriteBehindKeyStore } from "./keys/write-behind-key-store.ts";
import { withTimeout } from "./operations/with-timeout.ts";
import { membersByAddress } from "./outbound/member-addresses.ts";
import type { WhatsAppRuntime } from "./whatsapp-runtime.ts";
import type { JournalEntry } from "./wire/journal-entry.ts";
import { plainJid } from "./wire/plain-jid.ts";
import { readInboundMessage } from "./wire/read-inbound-message.ts";

export interface ConnectionContextOptions {
  hub: WhatsAppRuntime;
  caches: SessionCaches;
  keys: PairingStore;
  creds: BaileysCredentials;
  report: OpenSessionOptions["report"];
  /** Nothing can be kept any more: somebody else has the pairing, or it is over. */
  onLost(): void;
  /** Our own phone told something, which is kept. */
  onPeer(entry: JournalEntry): void;
}

/** Where one connection keeps its ratchets and its letters, and from where it reports them; nothing outlives it. */
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

  /** Tells the gateway in the order of a chat; what cannot be read is nobody's. */
  tell(chat: string, event: Promise<NetworkEvent | undefined>): void {
    void this.reports.tell(chat, event).catch(() => {});
  }

  /** As `tell`; once it is stored, or nobody's, it is known whether the network may forget it. */
  async keep(chat: string, events: Promise<readonly NetworkEvent[]>): Promise<boolean> {
    try {
      await this.reports.tell(chat, events);
      return true;
    } catch (error) {
      return !(error instanceof ConnectionClosedError);
    }
  }

  /** Lets what is under way come to its end; what is left is taken up by the next connection. */
  async finish(): Promise<void> {
    const finished = this.reports.finish().then(() => this.store.finish());
    await withTimeout(finished, this.#options.hub.timing.finishMs);
  }

  /** After the end of the connection: no ratchet moves any more, and what was reported is not reported again. */
  async settle(): Promise<void> {
    const { closeMs } = this.#options.hub.timing;
    this.store.close();
    await withTimeout(this.reports.finish(), closeMs);
    this.reports.close();
    await withTimeout(this.store.keepLeft(), closeMs);
  }

  /** As the death of the process: nothing settles any more. */
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

/** All messages of a chat under one name, also where the network addresses it in two ways. */
export function orderingKeyOf(stanza: Record<string, string>): string {
  const { from = "", recipient, participant, sender_pn, recipient_pn, peer_recipient_pn } = stanza;
  const address = recipient
    ? (peer_recipient_pn ?? recipient_pn ?? recipient)
    : participant
      ? from
      : (sender_pn ?? from);
  return plainJid(address) ?? address;
}
