import type { GroupMetadata } from "baileys";
import type { Jid, NetworkEvent, OpenSessionOptions, PairingStore } from "../../driver.ts";
import { resultWithin } from "../../result-within.ts";
import { EarlyChanges } from "../inbound/early-changes.ts";
import { MessageChanges, type ReportableEvent } from "../inbound/message-changes.ts";
import { InboundJournal, type RecordableMessage } from "../journal/inbound-journal.ts";
import type { JournalEntry } from "../journal/journal-entry.ts";
import { type DecryptedMessage, readStanza } from "../journal/read-stanza.ts";
import { AccountFacts } from "../keys/account-facts.ts";
import { type BaileysCredentials, serializeCredentials } from "../keys/baileys-credentials.ts";
import { IdentityStore } from "../keys/identity-store.ts";
import type { ItemCache, SessionCaches } from "../keys/session-caches.ts";
import { SignedPreKeys } from "../keys/signed-pre-keys.ts";
import { TimerStore } from "../keys/timer-store.ts";
import { WriteBehindKeyStore } from "../keys/write-behind-key-store.ts";
import { membersByAddress } from "../outbound/member-addresses.ts";
import { ConnectionClosedError } from "../stanzas/connection-closed-error.ts";
import { plainJid } from "../stanzas/plain-jid.ts";
import { authorKeyOf, isBroadcastList, toRecipient } from "../stanzas/stanza.ts";
import { readAgain } from "../wire/read-inbound-message.ts";
import { ownMessageSecret } from "../wire/sealed/message-secret.ts";
import { EventReporter } from "./event-reporter.ts";
import type { WhatsAppRuntime } from "./whatsapp-runtime.ts";

export interface ConnectionContextOptions
  extends Pick<OpenSessionOptions, "findOriginal" | "mayDelete" | "findUnsupported"> {
  runtime: WhatsAppRuntime;
  caches: SessionCaches;
  keys: PairingStore;
  creds: BaileysCredentials;
  report: OpenSessionOptions["report"];
  /** Nothing can be stored any more: another process owns the pairing, or it has ended. */
  onLost(): void;
  /** A peer message of our own phone is stored. */
  onPeerMessage(entry: JournalEntry): void;
}

/**
 * Stores the Signal session state and journal entries of one connection and reports the entries; nothing
 * outlives it.
 */
export class ConnectionContext {
  readonly keyStore: WriteBehindKeyStore;
  readonly reporter: EventReporter;
  readonly facts: AccountFacts;
  readonly identities: IdentityStore;
  readonly timers: TimerStore;
  readonly signedPreKeys: SignedPreKeys;
  readonly changes: MessageChanges;
  readonly journal: InboundJournal;
  readonly #early: EarlyChanges;
  readonly #options: ConnectionContextOptions;
  /** Of chats for which the network has used two addresses. */
  readonly #orderingKeys: ItemCache<string>;

  constructor(options: ConnectionContextOptions) {
    this.#options = options;
    this.#orderingKeys = options.caches.createCache("order");
    const { runtime, caches, keys, creds, report, onLost, onPeerMessage } = options;
    const { retryMs } = runtime.timing;
    const onFailure = (error: unknown) =>
      runtime.log?.warn({ err: error }, "whatsapp: not stored yet; retrying");
    const credentials = () => serializeCredentials(creds);
    const me = () => creds.me ?? { id: "" };
    this.keyStore = new WriteBehindKeyStore({ keys, caches, credentials, retryMs, onLost, onFailure });
    this.reporter = new EventReporter({ report, retryMs, onFailure });
    this.facts = new AccountFacts(creds, () => this.keyStore.markCredentialsDirty());
    const accepted = caches.createCache<Jid>("address");
    const groups = caches.createCache<GroupMetadata>("group");
    const membersOf = (group: string) => {
      const known = groups.get(group);
      return known && membersByAddress(known);
    };
    this.identities = new IdentityStore({ keys: this.keyStore, me, facts: this.facts, accepted, membersOf });
    this.signedPreKeys = new SignedPreKeys({
      keys: this.keyStore,
      creds,
      rotationMs: runtime.timing.signedPreKeyMs,
      onFailure: (err) => runtime.log?.warn({ err }, "whatsapp: the signed pre-key is not replaced yet"),
    });
    this.timers = new TimerStore(this.keyStore, this.identities);
    this.#early = new EarlyChanges(this.keyStore);
    this.changes = new MessageChanges({
      identities: this.identities,
      timers: this.timers,
      early: this.#early,
      findOriginal: options.findOriginal,
      mayDelete: options.mayDelete,
      ownSecret: (id) => ownMessageSecret(creds, id).toString("base64"),
    });
    this.journal = new InboundJournal({
      readEntries: (ids) => keys.readJournal(ids),
      store: this.keyStore,
      me,
      prepare: (entry) => this.#prepare(entry),
      deliver: (entry, message, isReplay) => this.#deliver(entry, message, isReplay),
      onPeerMessage,
      onFailure,
    });
  }

  /**
   * One key for all stanzas of a chat, even if the network uses two addresses for it: a receipt of a person names only
   * the LID, a message both.
   */
  orderingKeyOf(stanza: Record<string, string>): string {
    const key = orderingKeyOf(stanza);
    const named = plainJid(stanza.recipient ?? stanza.from);
    if (named && named !== key) this.#orderingKeys.set(named, key);
    return this.#orderingKeys.get(key) ?? key;
  }

  /** Reports the entries that earlier connections left behind, before the connection opens. */
  async replay(): Promise<void> {
    await this.#early.load();
    await this.journal.replay();
  }

  /** Reports the messages that an earlier version could not read, if this one can. */
  rereadUnsupported(): void {
    const { findUnsupported } = this.#options;
    if (!findUnsupported) return;
    const read = async () => {
      const events: NetworkEvent[] = [];
      for (const message of await findUnsupported()) {
        const event = await readAgain(message, this.identities);
        if (event) events.push(event);
      }
      return events;
    };
    void this.reporter.report("unsupported", read()).catch(() => {});
  }

  /** Reports an event in the order of its chat; ignores an event that cannot be read. */
  report(chat: string, event: Promise<ReportableEvent | undefined>): void {
    void this.reporter.report(chat, event).catch(() => {});
  }

  /**
   * Like `report`; resolves with whether the network may delete the message, because it is stored or
   * unreadable.
   */
  async reportDurably(chat: string, events: Promise<readonly ReportableEvent[]>): Promise<boolean> {
    try {
      await this.reporter.report(chat, events);
      return true;
    } catch (error) {
      return !(error instanceof ConnectionClosedError);
    }
  }

  /** Waits for the current work; the next connection handles the rest. */
  async drain(): Promise<void> {
    const finished = this.reporter.drain().then(() => this.keyStore.drain());
    await resultWithin(finished, this.#options.runtime.timing.finishMs);
  }

  /**
   * After the end of the connection: no Signal state changes any more, and the reports done so far are
   * stored.
   */
  async flush(): Promise<void> {
    const { closeMs } = this.#options.runtime.timing;
    this.keyStore.close();
    await resultWithin(this.reporter.drain(), closeMs);
    this.reporter.close();
    await resultWithin(this.keyStore.saveRemaining(), closeMs);
  }

  /** Acts like the death of the process: pending work never resolves. */
  close(): void {
    this.reporter.close();
    this.keyStore.close();
  }

  /** Of a chat in which nothing waits, since a message must not overtake another one. */
  async #prepare(entry: JournalEntry): Promise<RecordableMessage | undefined> {
    const { keys, creds } = this.#options;
    const release = keys.commitWithMessages && this.reporter.reserve(this.orderingKeyOf(entry.stanza));
    if (!release) return undefined;
    // What cannot be read is reported, and logged, from the journal.
    const read = async () => {
      const decrypted = await readStanza([entry], creds.me ?? { id: "" });
      return decrypted && this.changes.readMessage(decrypted);
    };
    const message = await read().catch(() => undefined);
    if (message) return { message, release };
    release();
    return undefined;
  }

  /** Reports a message in each of its chats; resolves once all of that is done. */
  async #deliver(
    { stanza, recipients }: Pick<JournalEntry, "stanza" | "recipients">,
    decrypting: Promise<DecryptedMessage | undefined>,
    isReplay: boolean,
  ): Promise<void> {
    const read = async (of: Record<string, string>) => {
      const decrypted = await decrypting;
      const seen = isReplay ? { offline: "0", ...of } : of;
      return decrypted && this.changes.read({ ...decrypted, stanza: seen });
    };
    const report = (of: Record<string, string>) => this.reporter.report(this.orderingKeyOf(of), read(of));
    // What our own phone writes to a broadcast list goes to several chats.
    if (!recipients || !this.identities.isMe(stanza.participant)) return report(stanza);
    await Promise.all(recipients.map((recipient) => report(toRecipient(stanza, recipient))));
  }
}

/** The main address of the chat that the stanza itself names. */
function orderingKeyOf(stanza: Record<string, string>): string {
  const { from = "", recipient, participant, sender_pn, recipient_pn, peer_recipient_pn } = stanza;
  if (isBroadcastList(from)) return authorKeyOf(stanza);
  const address = recipient
    ? (peer_recipient_pn ?? recipient_pn ?? recipient)
    : participant
      ? from
      : (sender_pn ?? from);
  return plainJid(address) ?? address;
}
