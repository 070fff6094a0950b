import type { ServerConnection } from "./connection.ts";
import type { ServerPerson } from "./person.ts";
import type { ServerLedger } from "./protocol/ledger.ts";
import { type BinaryNode, node, SERVER, seconds } from "./protocol/nodes.ts";
import type { DeliveryRecord } from "./protocol/records.ts";
import type { Bundle } from "./protocol/signal-end.ts";

export const STATUS_BROADCAST = "status@broadcast";

const LOW = 5;
/** Offline stanzas that are sent without a request. */
const PRIMER = 5;

export interface Registration {
  noiseKey: Buffer;
  registrationId: number;
  identity: Uint8Array;
  signedPreKey: { id: number; value: Uint8Array; signature: Uint8Array };
  /** Name under Linked devices. */
  name: string;
}

interface Waiting {
  stanza: BinaryNode;
  delivery?: DeliveryRecord;
  /** The client has sent a retry request. */
  isAskedFor?: boolean;
  /** Expected acks of replaced copies, which have no effect. */
  earlierAcks: number;
  /** The client refused it: it stays first, and later stanzas are withheld. */
  isRefused?: boolean;
}

/** A linked device, with stanzas that wait for its acknowledgement. */
export class Companion {
  readonly person: ServerPerson;
  readonly number: number;
  registration: Registration;
  /** Set when the client has signed the pairing. */
  confirmed = false;
  /** The first login has happened. */
  known = false;
  connection: ServerConnection | undefined;
  presence = "unavailable";
  /** Jids of those whose presence it asked for since its login. */
  readonly subscriptions = new Set<string>();
  readonly preKeys = new Map<number, Uint8Array>();
  readonly #waiting = new Map<string, Waiting>();
  /** Offline stanzas that are not sent yet; undefined after the last one. */
  #offline: Waiting[] | undefined;
  #refused: Waiting | undefined;
  #isWithheld = false;
  #endOffline: () => void = () => undefined;
  readonly #book: ServerLedger;

  constructor(person: ServerPerson, number: number, registration: Registration, book: ServerLedger) {
    this.person = person;
    this.number = number;
    this.registration = registration;
    this.#book = book;
  }

  get waiting(): number {
    return [...this.#waiting.values()].filter(({ stanza }) => MESSAGES.includes(stanza.tag)).length;
  }

  /** Takes a prekey, and requests more if few are left. */
  async bundle(): Promise<Bundle> {
    const { registrationId, identity, signedPreKey } = this.registration;
    const [next] = this.preKeys;
    const preKey = next && { id: next[0], value: next[1] };
    if (preKey) this.preKeys.delete(preKey.id);
    if (this.preKeys.size === LOW - 1) {
      this.deliver(
        node("notification", { from: SERVER, type: "encrypt", id: `prekeys-${Date.now()}`, t: seconds() }, [
          node("count", { value: this.preKeys.size }),
        ]),
      );
    }
    return { registrationId, identity, signedPreKey, ...(preKey && { preKey }) };
  }

  /** Sends without storing, for example presence. */
  push(stanza: BinaryNode): void {
    if (this.connection?.active) this.connection.send(stanza);
  }

  /** Stores the stanza until the client acknowledges it. A repeated message replaces the earlier copy. */
  deliver(stanza: BinaryNode): void {
    const key = keyOf(stanza.tag, stanza.attrs);
    const before = this.#waiting.get(key);
    this.#waiting.delete(key);
    const earlierAcks = (before?.earlierAcks ?? 0) + (before?.isAskedFor ? 1 : 0);
    const waiting: Waiting = { stanza, earlierAcks };
    if (MESSAGES.includes(stanza.tag)) waiting.delivery = before?.delivery ?? this.#delivery(stanza);
    this.#waiting.set(key, waiting);
    if (this.#offline) this.#offline.push(waiting);
    else if (this.connection?.active) this.#send(waiting, false);
  }

  /** Announces the number of offline stanzas and sends the first ones. The client requests the others. */
  announceWaiting({ isWithheld, isEndLost }: { isWithheld: boolean; isEndLost: boolean }): void {
    const waiting = [...this.#waiting.values()].sort(
      (a, b) => Number(b.isRefused ?? false) - Number(a.isRefused ?? false),
    );
    for (const one of waiting) Object.assign(one, { earlierAcks: 0, isAskedFor: false });
    const count = waiting.length;
    const ofTag = (...tags: string[]) => waiting.filter(({ stanza }) => tags.includes(stanza.tag)).length;
    const kinds = {
      message: ofTag(...MESSAGES),
      receipt: ofTag("receipt"),
      notification: ofTag("notification"),
    };
    if (count > 0) this.connection?.send(bulletin("offline_preview", { count, ...kinds }));
    this.#offline = waiting;
    this.#refused = undefined;
    this.#endOffline = () => {
      this.#offline = undefined;
      if (!isEndLost) this.connection?.send(bulletin("offline", { count }));
    };
    this.#isWithheld = isWithheld;
    this.sendBatch(PRIMER);
  }

  /** Sends `count` offline stanzas, but none after a refused one. */
  sendBatch(count: number): void {
    for (let sent = 0; sent < count && this.#offline?.length; sent++) {
      if (this.#refused || this.#isWithheld) return;
      const next = this.#offline.shift();
      if (!next || this.#waiting.get(keyOf(next.stanza.tag, next.stanza.attrs)) !== next) continue;
      if (next.isRefused) this.#refused = next;
      this.#send(next, true);
    }
    if (this.#offline?.length === 0 && !this.#refused) this.#endOffline();
  }

  receipted(ids: string[], type: string): void {
    for (const id of ids) {
      const key = `message ${id}`;
      const delivery = this.#waiting.get(key)?.delivery;
      if (delivery) Object.assign(delivery, { receipted_at: Date.now(), receipt: type });
      this.#waiting.delete(key);
    }
  }

  /** The client could not decrypt a message, so its sender sends it again. */
  asksAgain(id: string): void {
    const waiting = this.#waiting.get(`message ${id}`);
    if (!waiting) return;
    waiting.isAskedFor = true;
    if (waiting.delivery) waiting.delivery.retries++;
  }

  acknowledged(attrs: BinaryNode["attrs"]): void {
    const key = keyOf(attrs.class ?? "", { ...attrs, from: attrs.to ?? "" });
    const waiting = this.#waiting.get(key);
    if (!waiting) return;
    if (waiting.delivery && attrs.error) waiting.delivery.nacked = Number(attrs.error);
    if (waiting.earlierAcks > 0) {
      waiting.earlierAcks--;
      return;
    }
    if (attrs.error) {
      waiting.isRefused = true;
      if (this.#offline) this.#refused = waiting;
      return;
    }
    if (this.#refused === waiting) {
      this.#refused = undefined;
      this.sendBatch(PRIMER);
    }
    this.#waiting.delete(key);
  }

  #send(waiting: Waiting, offline: boolean): void {
    const { stanza, delivery } = waiting;
    if (delivery) delivery.sent++;
    if (delivery && offline) delivery.offline++;
    const sent = offline ? { ...stanza, attrs: { ...stanza.attrs, offline: "1" } } : stanza;
    this.connection?.send(sent);
  }

  #delivery(stanza: BinaryNode): DeliveryRecord {
    const { person, number } = this;
    return this.#book.delivery({
      id: stanza.attrs.id ?? "",
      phone: person.phone,
      device: number,
      at: Date.now(),
      sent: 0,
      offline: 0,
      retries: 0,
    });
  }
}

const bulletin = (tag: string, attrs: Record<string, number>): BinaryNode =>
  node("ib", { from: SERVER }, [node(tag, attrs)]);

const MESSAGES = ["message", "status"];

const keyOf = (tag: string, attrs: BinaryNode["attrs"]): string =>
  tag === "message" || tag === "call"
    ? `${tag} ${attrs.id}`
    : [tag, attrs.id, attrs.type ?? "", attrs.from ?? "", attrs.participant ?? ""].join(" ");
