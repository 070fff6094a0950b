import { type BinaryNode, configureSuccessfulPairing, proto } from "baileys";
import type { CredentialStore, NetworkEvent, PairingError } from "../../driver.ts";
import { resultWithin } from "../../result-within.ts";
import {
  type BaileysSocket,
  CONNECTION_LOST_CODE,
  openBaileysSocket,
  type SocketClose,
  TIMED_OUT_CODE,
} from "../connection/baileys-socket.ts";
import type { WhatsAppRuntime } from "../connection/whatsapp-runtime.ts";
import { type BaileysCredentials, serializeCredentials } from "../keys/baileys-credentials.ts";
import { createSessionTransport, type SessionTransportOptions } from "../session-transport.ts";
import { BROWSER, LINK_CODE, PairingCode } from "./pairing-code.ts";
import { pairingError } from "./pairing-error.ts";
import { PairingSecret } from "./pairing-secret.ts";
import { PasskeyCeremony } from "./passkey-ceremony.ts";
import { QrDisplay } from "./qr-display.ts";
import { bytesOf, childOf, RegistrationStream, SERVER } from "./registration-stream.ts";
import { storeIdentity } from "./store-identity.ts";

export interface WhatsAppPairingOptions extends SessionTransportOptions {
  runtime: WhatsAppRuntime;
  store: CredentialStore;
  /** Digits; requests a pairing code instead of QRs. */
  phone?: string;
  /** The phone shows it after linking by QR; WhatsApp rejects codes for systems that it does not know. */
  deviceName?: string;
  /** QRs or codes that earlier connections showed. */
  shown: number;
  signal: AbortSignal;
  /** Whether a failure of the store is temporary; never if absent. */
  isTransientError?: (error: unknown) => boolean;
  /** Resolves once the event is stored, or once it is stale: then it is not retried. */
  report(event: NetworkEvent, isStale: () => boolean): Promise<void>;
  /** The account requires its passkey: the pairing continues with this ceremony. */
  onCeremony(ceremony: PasskeyCeremony): void;
}

/** `shown`: QRs or codes so far. */
export type PairingResult =
  | { end: "paired" }
  | { end: "failed"; error: PairingError }
  | { end: "closed"; shown: number; socketClose: SocketClose };

/** Shows the QRs of one connection, or one pairing code, until a phone agrees or the connection ends. */
export async function pairDevice(options: WhatsAppPairingOptions): Promise<PairingResult> {
  const { runtime, store, signal } = options;
  const onFailure = (err: unknown) =>
    runtime.log?.warn({ err }, "whatsapp: a registration could not be stored");
  const { retryMs } = runtime.timing;
  const secret = await PairingSecret.open({ store, retryMs, signal, onFailure });
  return new Pairing(options, secret).run();
}

const NO_KEYS = { get: async () => ({}), set: async () => {} };
const PAIR_DEVICE = "CB:iq,type:set,pair-device";
const PAIR_SUCCESS = "CB:iq,,pair-success";
const PASSKEY_REQUEST = "passkey_prologue_request";
const PASSKEY_CONTINUATION = "crsc_continuation";
const REFRESH = "companion_reg_refresh";
const REFRESH_CHILDREN = [REFRESH, "pair-device-rotate-qr"];
const MOST_IDENTITY_BYTES = 500;
const MOST_PROPS_BYTES = 500;

/** One registration connection. */
class Pairing {
  readonly #options: WhatsAppPairingOptions;
  readonly #secret: PairingSecret;
  readonly #socket: BaileysSocket;
  readonly #stream: RegistrationStream;
  readonly #qrs: QrDisplay;
  readonly #code: PairingCode | undefined;
  readonly #connecting: NodeJS.Timeout;
  #ceremony: PasskeyCeremony | undefined;
  #hasBegun = false;
  #found: PairingResult | undefined;
  /** The write of the identity, once the phone has agreed. */
  #storing: Promise<boolean> | undefined;
  readonly #reports = new Set<Promise<void>>();

  constructor(options: WhatsAppPairingOptions, secret: PairingSecret) {
    this.#options = options;
    this.#secret = secret;
    const { runtime } = options;
    const { timing } = runtime;
    const config = { browser: browserOf(options) };
    const transport = createSessionTransport(options, runtime.egress);
    const socket = openBaileysSocket({ runtime, creds: secret.creds, keys: NO_KEYS, transport, config });
    this.#socket = socket;
    const onFailure = (error: unknown) =>
      socket.end({
        code: CONNECTION_LOST_CODE,
        detail: `the pairing failed: ${error instanceof Error ? error.message : error}`,
      });
    this.#stream = new RegistrationStream({ socket, queryMs: timing.queryMs, onFailure });
    this.#qrs = this.#openQrs();
    this.#code = this.#openCode();
    this.#connecting = setTimeout(() => this.#stop("the network did not respond"), timing.connectMs);
  }

  async run(): Promise<PairingResult> {
    const { signal, runtime } = this.#options;
    const stop = () => this.#stop("stopped");
    signal.addEventListener("abort", stop);
    this.#listen();
    if (signal.aborted) stop();
    const socketClose = await this.#socket.closed;
    signal.removeEventListener("abort", stop);
    clearTimeout(this.#connecting);
    this.#qrs.stop();
    this.#code?.stop();
    const isInterrupted = this.#ceremony?.isActive && !signal.aborted;
    this.#ceremony?.end();
    await this.#storing;
    await this.#secret.close();
    // Current reports end before the end of the connection is reported.
    await resultWithin(Promise.all([this.#stream.whenIdle(), ...this.#reports]), runtime.timing.closeMs);
    if (isInterrupted) this.#found ??= { end: "failed", error: pairingError("passkey_interrupted") };
    return this.#found ?? { end: "closed", shown: this.#code?.codesShown ?? this.#qrs.shown, socketClose };
  }

  #openQrs(): QrDisplay {
    const { shown, runtime } = this.#options;
    return new QrDisplay({
      stream: this.#stream,
      secret: this.#secret,
      timing: runtime.timing,
      shown,
      mayShowNext: () => !this.#found && !this.#ceremony,
      report: (event) => this.#report(event),
      fail: (error) => this.#finish({ end: "failed", error }),
      stop: (detail) => this.#stop(detail),
    });
  }

  #openCode(): PairingCode | undefined {
    const { phone, shown: codesShown, runtime } = this.#options;
    if (phone === undefined) return undefined;
    return new PairingCode({
      stream: this.#stream,
      secret: this.#secret,
      timing: runtime.timing,
      phone,
      codesShown,
      show: (code, expires_at) => this.#report({ type: "pairing_code", code, expires_at }),
      warn: (error) => this.#report({ type: "pairing_failed", error }),
      fail: (error) => this.#finish({ end: "failed", error }),
    });
  }

  #listen(): void {
    const stream = this.#stream;
    stream.onStanza(PAIR_DEVICE, (iq) => this.#begin(iq));
    stream.onStanza(PAIR_SUCCESS, (iq) => this.#storeAndConfirm(iq));
    stream.onNotification(LINK_CODE, async (notification) => {
      if (this.#code) await this.#code.handle(notification);
      else await stream.acknowledge(notification);
    });
    stream.onNotification(REFRESH, (notification) => this.#refresh(notification));
    stream.onNotification(PASSKEY_REQUEST, (notification) => this.#startPasskey(notification));
    stream.onNotification(PASSKEY_CONTINUATION, async (notification) => {
      if (this.#ceremony) await this.#ceremony.continuation(notification);
      else await stream.acknowledge(notification);
    });
  }

  async #begin(iq: BinaryNode): Promise<void> {
    clearTimeout(this.#connecting);
    await this.#stream.send(resultOf(iq));
    if (this.#found || this.#ceremony) return;
    const isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    if (this.#code) return isFirst ? this.#code.requestCode() : undefined;
    await this.#qrs.begin(iq);
  }

  /**
   * WhatsApp retires the secret of the QR, because an app other than WhatsApp may have scanned it. The
   * replacement QR does not count as an attempt.
   */
  async #refresh(notification: BinaryNode): Promise<void> {
    if (!REFRESH_CHILDREN.some((tag) => childOf(notification, tag))) return;
    const isConsentDue = this.#code?.isAwaitingConsent || this.#ceremony?.hasSharedSecret;
    if (!this.#found) await (isConsentDue ? this.#secret.postponeRotation() : this.#secret.rotate());
    await this.#stream.acknowledge(notification);
    if (!this.#found) await this.#qrs.refresh();
  }

  async #startPasskey(notification: BinaryNode): Promise<void> {
    if (this.#found) return;
    this.#qrs.stop();
    this.#code?.stop();
    this.#ceremony ??= this.#openCeremony();
    await this.#ceremony.start(notification);
  }

  #openCeremony(): PasskeyCeremony {
    const { runtime, onCeremony } = this.#options;
    const { noiseKey, signedIdentityKey } = this.#secret.creds;
    const ceremony = new PasskeyCeremony({
      stream: this.#stream,
      secret: this.#secret,
      timing: runtime.timing,
      keys: { noisePublic: noiseKey.public, identityPublic: signedIdentityKey.public },
      report: (passkey) => this.#report({ type: "passkey_required", passkey }),
      fail: (failure, detail) => {
        if (detail !== undefined) runtime.log?.warn({ err: detail }, "whatsapp: a passkey ceremony failed");
        this.#finish({ end: "failed", error: pairingError(failure) });
      },
    });
    onCeremony(ceremony);
    return ceremony;
  }

  /** The identity is durable before the network receives the confirmation of the pairing. */
  async #storeAndConfirm(iq: BinaryNode): Promise<void> {
    if (this.#found) return;
    const paired = this.#verify(iq);
    if (!paired) return this.#refuse(iq);
    this.#qrs.stop();
    this.#code?.stop();
    this.#ceremony?.end();
    this.#storing = this.#store(paired.creds);
    if (!(await this.#storing)) {
      await this.#stream.send(refusalOf(iq, "500", "internal-server-error"));
      return this.#stop("not stored");
    }
    await this.#stream.send(paired.reply);
    // WhatsApp normally closes the connection now; the timer starts the login even if it does not.
    const late = setTimeout(() => this.#stop("paired"), this.#options.runtime.timing.connectMs);
    void this.#socket.closed.then(() => clearTimeout(late));
  }

  async #store(creds: BaileysCredentials): Promise<boolean> {
    const { runtime, store, signal, isTransientError = () => false } = this.#options;
    const isStored = await storeIdentity(serializeCredentials(creds), {
      store,
      isTransientError,
      retryMs: runtime.timing.retryMs,
      isClosed: this.#socket.isClosed,
      signal,
      onFailure: (err) => runtime.log?.warn({ err }, "whatsapp: a new pairing could not be stored"),
    });
    this.#found = isStored ? { end: "paired" } : { end: "failed", error: pairingError("not_stored") };
    return isStored;
  }

  /** The QR stays on show: the phone may have scanned the version before a refresh. */
  async #refuse(iq: BinaryNode): Promise<void> {
    await this.#stream.send(refusalOf(iq, "401", "not-authorized"));
    await this.#report({ type: "pairing_failed", error: pairingError("phone_refused") });
  }

  /** Undefined if the consent was not given under the current secret, or is not from the phone. */
  #verify(iq: BinaryNode): { creds: BaileysCredentials; reply: BinaryNode } | undefined {
    const success = childOf(iq, "pair-success");
    if (!bytesOf(success && childOf(success, "device-identity"), 1, MOST_IDENTITY_BYTES)) return undefined;
    const { creds } = this.#secret;
    try {
      const paired = configureSuccessfulPairing(iq, creds);
      const isLidMigrated = saysMigrated(success);
      const all = { ...creds, ...paired.creds, ...(isLidMigrated && { isLidMigrated }) };
      return { creds: all as BaileysCredentials, reply: paired.reply };
    } catch {
      return undefined;
    }
  }

  /** A QR, a code or a challenge is useless after the end of its connection. */
  async #report(event: NetworkEvent): Promise<void> {
    const { isClosed } = this.#socket;
    if (isClosed()) return;
    const report = this.#options.report(event, isClosed);
    this.#reports.add(report);
    await report.finally(() => this.#reports.delete(report));
  }

  #finish(found: PairingResult): void {
    this.#found = found;
    this.#stop(found.end);
  }

  #stop(detail: string): void {
    this.#socket.end({ code: TIMED_OUT_CODE, detail });
  }
}

/** Whether the phone says that the account's direct messages go to LIDs; false for what cannot be read. */
function saysMigrated(success: BinaryNode | undefined): boolean {
  const props = bytesOf(success && childOf(success, "client-props"), 1, MOST_PROPS_BYTES);
  try {
    return props !== undefined && proto.ClientPairingProps.decode(props).isChatDbLidMigrated === true;
  } catch {
    return false;
  }
}

function browserOf({ phone, deviceName }: WhatsAppPairingOptions): typeof BROWSER {
  const [system, ...browser] = BROWSER;
  return [phone === undefined ? (deviceName ?? system) : system, ...browser];
}

function resultOf({ attrs: { id = "" } }: BinaryNode): BinaryNode {
  return { tag: "iq", attrs: { to: SERVER, type: "result", id } };
}

function refusalOf({ attrs: { id = "" } }: BinaryNode, code: string, text: string): BinaryNode {
  const error = { tag: "error", attrs: { code, text } };
  return { tag: "iq", attrs: { to: SERVER, type: "error", id }, content: [error] };
}
