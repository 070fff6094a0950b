import type { ServerConnection } from "./connection.ts";
import type { ServerPerson } from "./person.ts";
import type { ServerLedger } from "./protocol/ledger.ts";
import { type BinaryNode, node, SERVER, seconds } from "./protocol/nodes.ts";
import type { DeliveryRecord } from "./protocol/records.ts";
import type { Bundle } from "./protocol/signal-end.ts";

export const STATUS_BROADCAST = "status@broadcast";

const LOW = 5;
/** Of what waited, so many come without a request. */
const PRIMER = 5;

export interface Registration {
  noiseKey: Buffer;
  registrationId: number;
  identity: Uint8Array;
  signedPreKey: { id: number; value: Uint8Array; signature: Uint8Array };
  /** What the phone shows under Linked devices. */
  name: string;
}

interface Waiting {
  stanza: BinaryNode;
  delivery?: DeliveryRecord;
  /** The client has asked its writer for it again. */
  isAskedFor?: boolean;
  /** Acks to come of copies that this one has replaced, which settle nothing. */
  earlierAcks: number;
  /** The client refused it: it stays the first of what waits, and the rest is withheld. */
  isRefused?: boolean;
}

/** A linked device: a client that logs in, with what waits for it until it says that it has it. */
export class Companion {
  readonly person: ServerPerson;
  readonly number: number;
  registration: Registration;
  /** Set when the client has signed the pairing. */
  confirmed = false;
  /** It has had its first login. */
  known = false;
  connection: ServerConnection | undefined;
  presence = "unavailable";
  readonly preKeys = new Map<number, Uint8Array>();
  readonly #waiting = new Map<string, Waiting>();
  /** What waited at the login and was not sent yet; undefined once all of it was. */
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

  /** Takes one of its prekeys, and asks for more when they run low. */
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

  /** For what is not kept, such as presence. */
  push(stanza: BinaryNode): void {
    if (this.connection?.active) this.connection.send(stanza);
  }

  /** Kept until the client acknowledges it; a repeated message takes the place of the one before. */
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

  /** Says how much waited, sends the first of it, and the rest as the client asks for it. */
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

  /** Sends so much of what waited; nothing behind what was refused. */
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

  /** The client could not read a message: it is sent again by its writer. */
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
