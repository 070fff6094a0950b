import type {
  Decryption,
  DeliveryRecord,
  GivenAck,
  GivenReceipt,
  Ledger,
  MessageRecord,
  SocketRecord,
} from "./records.ts";

/** Everything that happened on the network, for tests to read. */
export class ServerLedger implements Ledger {
  sockets: SocketRecord[] = [];
  arrivals: MessageRecord[] = [];
  decryptions: Decryption[] = [];
  deliveries: DeliveryRecord[] = [];
  receipts: GivenReceipt[] = [];
  acks: GivenAck[] = [];
  readonly unhandled: string[] = [];
  readonly stanzas = new Map<string, Map<string, number>>();
  readonly #arrived = new Map<string, number>();
  readonly #open = new Map<string, number>();
  #isEnabled = true;
  maxOpenAtOnce = 0;
  #serial = 0;

  set keeps(keeps: boolean) {
    this.#isEnabled = keeps;
  }

  clear(): void {
    this.sockets = this.sockets.filter((one) => one.closed_at === undefined);
    this.arrivals = [];
    this.decryptions = [];
    this.deliveries = [];
    this.receipts = [];
    this.acks = [];
    this.unhandled.length = 0;
    this.stanzas.clear();
    this.#arrived.clear();
    this.maxOpenAtOnce = Math.max(0, ...this.#open.values());
  }

  socket(): SocketRecord {
    const record: SocketRecord = { socket: ++this.#serial, opened_at: Date.now() };
    this.sockets.push(record);
    return record;
  }

  loggedIn(record: SocketRecord, phone: string, device: number): void {
    Object.assign(record, { phone, device, logged_in_at: Date.now() });
    const key = `${phone}:${device}`;
    const open = (this.#open.get(key) ?? 0) + 1;
    this.#open.set(key, open);
    this.maxOpenAtOnce = Math.max(this.maxOpenAtOnce, open);
  }

  closed(record: SocketRecord): void {
    if (record.closed_at !== undefined) return;
    record.closed_at = Date.now();
    if (record.phone === undefined || record.logged_in_at === undefined) return;
    const key = `${record.phone}:${record.device}`;
    this.#open.set(key, (this.#open.get(key) ?? 1) - 1);
  }

  stanza(phone: string, kind: string): void {
    const counts = this.stanzas.get(phone) ?? new Map<string, number>();
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    this.stanzas.set(phone, counts);
  }

  arrival(arrival: MessageRecord): void {
    if (!this.#isEnabled) return;
    this.arrivals.push(arrival);
    this.#arrived.set(arrival.id, this.arrivedTimes(arrival.id) + 1);
  }

  arrivedTimes(id: string): number {
    return this.#arrived.get(id) ?? 0;
  }

  decryption(decryption: Decryption): void {
    if (this.#isEnabled) this.decryptions.push(decryption);
  }

  receipt(receipt: GivenReceipt): void {
    if (this.#isEnabled) this.receipts.push(receipt);
  }

  ack(ack: GivenAck): void {
    if (this.#isEnabled) this.acks.push(ack);
  }

  delivery(delivery: DeliveryRecord): DeliveryRecord {
    if (this.#isEnabled) this.deliveries.push(delivery);
    return delivery;
  }
}
