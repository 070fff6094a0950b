import { type BinaryNode, configureSuccessfulPairing } from "baileys";
import type { CredentialStore, NetworkEvent } from "../driver.ts";
import { type Credentials, newCredentials, writeCredentials } from "./credentials.ts";
import type { Hub } from "./hub.ts";
import { type Ending, type OpenSocket, openSocket, SILENT } from "./socket.ts";
import { type Handle, takeListeners } from "./take-listeners.ts";
import { type WayOptions, wayOf } from "./way.ts";

export interface PairingOptions extends WayOptions {
  hub: Hub;
  store: CredentialStore;
  /** Digits; asks for a pairing code in place of QRs. */
  phone?: string;
  /** QRs that were shown before. */
  shown: number;
  signal: AbortSignal;
  tell(event: NetworkEvent): Promise<void>;
}

/** `shown`: QRs up to now; `not_kept`: the phone has agreed, and the identity could not be kept. */
export type Paired =
  | { end: "paired" }
  | { end: "passkey" }
  | { end: "not_kept"; error: unknown }
  | { end: "closed"; shown: number; ending: Ending };

/** Shows the QRs of one connection, or one pairing code, until a phone agrees or the connection ends. */
export async function pair(options: PairingOptions): Promise<Paired> {
  return new Pairing(options).run();
}

const NO_KEYS = { get: async () => ({}), set: async () => {} };
const PAIR_SUCCESS = "CB:iq,,pair-success";
const PASSKEY = ["passkey_prologue_request", "crsc_continuation"];

class Pairing {
  readonly #options: PairingOptions;
  readonly #creds: Credentials = newCredentials();
  readonly #socket: OpenSocket;
  #shown: number;
  #onSocket = 0;
  #found: Paired | undefined;

  constructor(options: PairingOptions) {
    this.#options = options;
    this.#shown = options.shown;
    const { hub } = options;
    this.#socket = openSocket({ hub, creds: this.#creds, keys: NO_KEYS, way: wayOf(options) });
  }

  async run(): Promise<Paired> {
    const { signal, hub } = this.#options;
    const stop = () => this.#socket.end({ code: SILENT, detail: "stopped" });
    const timer = setTimeout(stop, hub.timing.connectMs);
    signal.addEventListener("abort", stop);
    this.#listen(() => clearTimeout(timer));
    if (signal.aborted) stop();
    const ending = await this.#socket.closed;
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    return this.#found ?? { end: "closed", shown: this.#shown, ending };
  }

  #listen(onAnswer: () => void): void {
    const { sock } = this.#socket;
    sock.ev.on("connection.update", ({ qr }) => {
      if (qr === undefined) return;
      onAnswer();
      void this.#offer(qr);
    });
    for (const type of PASSKEY) {
      sock.ws.on(`CB:notification,type:${type}`, () => this.#finish({ end: "passkey" }));
    }
    // The identity is durable before the network hears that the pairing is done.
    const handles = takeListeners(sock.ws, PAIR_SUCCESS);
    sock.ws.on(PAIR_SUCCESS, (node: BinaryNode) => void this.#keep(node, handles));
  }

  async #offer(qr: string): Promise<void> {
    const { phone } = this.#options;
    try {
      if (phone === undefined) await this.#showQr(qr);
      else if (this.#onSocket++ === 0) await this.#showCode(phone);
    } catch (error) {
      this.#socket.end({ code: SILENT, detail: String(error) });
    }
  }

  async #showQr(qr: string): Promise<void> {
    const { hub, tell } = this.#options;
    const { qrAttempts, firstQrMs, laterQrMs } = hub.timing;
    if (this.#shown >= qrAttempts) return this.#socket.end({ code: SILENT, detail: "the last QR is over" });
    const lifeMs = this.#onSocket++ === 0 ? firstQrMs : laterQrMs;
    const attempt = ++this.#shown;
    const expires_at = new Date(Date.now() + lifeMs);
    await tell({ type: "qr", qr, expires_at, attempt, max_attempts: qrAttempts });
  }

  async #showCode(phone: string): Promise<void> {
    const { hub, tell } = this.#options;
    const { qrAttempts, firstQrMs, laterQrMs } = hub.timing;
    const code = await this.#socket.sock.requestPairingCode(phone);
    // The code lives as long as the connection, and that as long as its QRs.
    this.#shown = qrAttempts;
    const expires_at = new Date(Date.now() + firstQrMs + (qrAttempts - 1) * laterQrMs);
    await tell({ type: "pairing_code", code, expires_at });
  }

  async #keep(node: BinaryNode, handles: readonly Handle[]): Promise<void> {
    const paired = this.#read(node);
    // A forged pairing is the client library's to refuse; one that cannot be kept is never confirmed.
    if (paired) {
      try {
        await this.#options.store.save(writeCredentials(paired));
      } catch (error) {
        return this.#finish({ end: "not_kept", error });
      }
      this.#found = { end: "paired" };
    }
    for (const handle of handles) handle(node);
  }

  #read(node: BinaryNode): Credentials | undefined {
    try {
      return { ...this.#creds, ...configureSuccessfulPairing(node, this.#creds).creds } as Credentials;
    } catch {
      return undefined;
    }
  }

  #finish(found: Paired): void {
    this.#found = found;
    this.#socket.end({ code: SILENT, detail: found.end });
  }
}
