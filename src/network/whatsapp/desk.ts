import type { GroupMetadata } from "baileys";
import type { NetworkEvent, OpenOptions, PairingKeys } from "../driver.ts";
import { atMost } from "./at-most.ts";
import { type Credentials, writeCredentials } from "./credentials.ts";
import { readArrived } from "./from-network.ts";
import { ConnectionOver } from "./guard-process.ts";
import type { Hub } from "./hub.ts";
import { type Arrived, Inbox } from "./inbox.ts";
import { plainJid } from "./jids.ts";
import type { JournalEntry } from "./journal-entry.ts";
import type { SessionCaches } from "./key-cache.ts";
import { KeyStore } from "./key-store.ts";
import { membersByAddress } from "./member-addresses.ts";
import { People } from "./people.ts";
import { Reports } from "./reports.ts";

export interface DeskOptions {
  hub: Hub;
  caches: SessionCaches;
  keys: PairingKeys;
  creds: Credentials;
  report: OpenOptions["report"];
  /** Nothing can be kept any more: somebody else has the pairing, or it is over. */
  onLost(): void;
  /** Our own phone told something, which is kept. */
  onPeer(entry: JournalEntry): void;
}

/** Where one connection keeps its ratchets and its letters, and from where it reports them; nothing outlives it. */
export class Desk {
  readonly store: KeyStore;
  readonly reports: Reports;
  readonly people: People;
  readonly inbox: Inbox;
  readonly #options: DeskOptions;

  constructor(options: DeskOptions) {
    this.#options = options;
    const { hub, caches, keys, creds, report, onLost, onPeer } = options;
    const { retryMs } = hub.timing;
    const onFailure = (error: unknown) => hub.log?.warn({ err: error }, "whatsapp: not kept yet");
    const credentials = () => writeCredentials(creds);
    const me = () => creds.me ?? { id: "" };
    this.store = new KeyStore({ keys, caches, credentials, retryMs, onLost, onFailure });
    this.reports = new Reports({ report, retryMs, onFailure });
    const addressing = caches.store<string>("address");
    const groups = caches.store<GroupMetadata>("group");
    const membersOf = (group: string) => {
      const known = groups.get(group);
      return known && membersByAddress(known);
    };
    this.people = new People({ keys: this.store, me, addressing, membersOf });
    this.inbox = new Inbox({
      letters: (ids) => keys.letters(ids),
      store: this.store,
      me,
      deliver: (stanza, arrived, isReplay) =>
        this.reports.tell(orderOf(stanza), this.#read(arrived, isReplay)),
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
      return !(error instanceof ConnectionOver);
    }
  }

  /** Lets what is under way come to its end; what is left is taken up by the next connection. */
  async finish(): Promise<void> {
    const finished = this.reports.finish().then(() => this.store.finish());
    await atMost(finished, this.#options.hub.timing.finishMs);
  }

  /** After the end of the connection: no ratchet moves any more, and what was reported is not reported again. */
  async settle(): Promise<void> {
    const { closeMs } = this.#options.hub.timing;
    this.store.close();
    await atMost(this.reports.finish(), closeMs);
    this.reports.close();
    await atMost(this.store.keepLeft(), closeMs);
  }

  /** As the death of the process: nothing settles any more. */
  close(): void {
    this.reports.close();
    this.store.close();
  }

  async #read(arriving: Promise<Arrived | undefined>, isReplay: boolean): Promise<NetworkEvent | undefined> {
    const arrived = await arriving;
    const event = arrived && (await readArrived(arrived, this.people));
    if (event?.type !== "message" || !isReplay) return event;
    return { type: "message", message: { ...event.message, offline: true } };
  }
}

/** All messages of a chat under one name, also where the network addresses it in two ways. */
export function orderOf(stanza: Record<string, string>): string {
  const { from = "", recipient, participant, sender_pn, recipient_pn, peer_recipient_pn } = stanza;
  const address = recipient
    ? (peer_recipient_pn ?? recipient_pn ?? recipient)
    : participant
      ? from
      : (sender_pn ?? from);
  return plainJid(address) ?? address;
}
