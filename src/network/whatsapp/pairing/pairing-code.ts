import { type BinaryNode, Curve, type KeyPair } from "baileys";
import type { PairingError } from "../../driver.ts";
import type { WhatsAppTiming } from "../whatsapp-timing.ts";
import {
  derivePairingSecret,
  generatePairingCode,
  unwrapKey,
  WRAPPED_KEY_LENGTH,
  wrapKey,
} from "./pairing-code-crypto.ts";
import { codeEntryError, helloError, pairingError } from "./pairing-error.ts";
import type { PairingSecret } from "./pairing-secret.ts";
import { bytesOf, childOf, QueryRejectedError, type RegistrationStream } from "./registration-stream.ts";

/** WhatsApp rejects a code request from an unknown browser or system. */
export const BROWSER: [string, string, string] = ["Mac OS", "Chrome", "14.4.1"];

export const LINK_CODE = "link_code_companion_reg";

const CHROME = "1";
const KEY_LENGTH = 32;
const MOST_REF_BYTES = 1_000;

export interface PairingCodeOptions {
  stream: RegistrationStream;
  secret: PairingSecret;
  /** Digits. */
  phone: string;
  timing: Pick<WhatsAppTiming, "codeMs" | "consentMs" | "codeEntries" | "codes">;
  /** Codes that earlier connections showed. */
  codesShown: number;
  /** WhatsApp has accepted the code. */
  show(code: string, expiresAt: Date): Promise<void>;
  /** A code was entered without success, and can be entered again. */
  warn(error: PairingError): Promise<void>;
  /** The pairing cannot succeed any more. */
  fail(error: PairingError): void;
}

/** A code that WhatsApp has accepted, until it expires or another replaces it. */
interface AcceptedCode {
  code: string;
  ephemeral: KeyPair;
  ref: Buffer;
  expiresAt: Date;
  entries: number;
  /** Why the last entry failed. */
  error?: PairingError;
}

/** Links by a code that the user types into the phone; the code ends with the connection. */
export class PairingCode {
  readonly #options: PairingCodeOptions;
  #accepted: AcceptedCode | undefined;
  #shown: number;
  #isAwaitingConsent = false;
  #isStopped = false;
  #expiry: NodeJS.Timeout | undefined;
  #consent: NodeJS.Timeout | undefined;

  constructor(options: PairingCodeOptions) {
    this.#options = options;
    this.#shown = options.codesShown;
  }

  /** Codes so far. */
  get codesShown(): number {
    return this.#shown;
  }

  /** Whether the phone may be sending its consent under the code's secret. */
  get isAwaitingConsent(): boolean {
    return this.#isAwaitingConsent;
  }

  /** Offers a new code to WhatsApp, and shows it once WhatsApp accepts it. */
  async requestCode(): Promise<void> {
    const { stream, timing, phone, secret } = this.#options;
    const code = generatePairingCode();
    const expiresAt = new Date(Date.now() + timing.codeMs);
    const ephemeral = Curve.generateKeyPair();
    const hello = helloOf(phone, await wrapKey(ephemeral.public, code), secret.creds.noiseKey.public);
    stream
      .query(hello)
      .then((response) => {
        const registration = childOf(response, LINK_CODE);
        const ref = bytesOf(
          registration && childOf(registration, "link_code_pairing_ref"),
          1,
          MOST_REF_BYTES,
        );
        if (!ref) throw new Error("The response has no reference.");
        stream.enqueue(() => this.#accept({ code, ephemeral, ref, expiresAt, entries: 0 }));
      })
      .catch((error) => this.#fail(helloError(error)));
  }

  /**
   * Handles and always acknowledges a notification of the phone; one without a child only reports an opened
   * menu.
   */
  async handle(notification: BinaryNode): Promise<void> {
    await this.#options.stream.acknowledge(notification);
    const registration = childOf(notification, LINK_CODE);
    const accepted = this.#accepted;
    if (!registration || !accepted || this.#isStopped) return;
    const ref = bytesOf(childOf(registration, "link_code_pairing_ref"), 1, MOST_REF_BYTES);
    if (!ref?.equals(accepted.ref)) return;
    const { stage, force_manual_refresh: isManual } = registration.attrs;
    if (stage === "primary_hello") await this.#finish(accepted, registration);
    if (stage === "refresh_code") await this.#replace(isManual === "true");
  }

  /** The phone has agreed, a passkey is required, or the connection has ended. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#expiry);
    clearTimeout(this.#consent);
  }

  async #accept(accepted: AcceptedCode): Promise<void> {
    if (this.#isStopped) return;
    this.#accepted = accepted;
    this.#shown++;
    const { stream, show } = this.#options;
    const { code, expiresAt } = accepted;
    clearTimeout(this.#expiry);
    const expire = async () => {
      // The phone has the code, and the wait for its consent has its own timeout.
      if (this.#accepted !== accepted || this.#isAwaitingConsent) return;
      this.#fail(accepted.error ?? pairingError("code_expired"));
    };
    this.#expiry = setTimeout(() => stream.enqueue(expire), expiresAt.getTime() - Date.now());
    await show(code, expiresAt);
  }

  /** Each entry on the phone brings a new key, so each has its own derivation and `companion_finish`. */
  async #finish(accepted: AcceptedCode, registration: BinaryNode): Promise<void> {
    const { secret, phone, stream, timing } = this.#options;
    const agreed = await this.#agree(accepted, registration);
    if (!agreed) return;
    if (accepted.entries >= timing.codeEntries) return this.#fail(pairingError("wrong_code"));
    const entry = ++accepted.entries;
    await secret.replace(agreed.secret);
    this.#isAwaitingConsent = true;
    const failEntry = async (error: PairingError) => {
      const isLatest = this.#accepted === accepted && accepted.entries === entry;
      if (isLatest && this.#isAwaitingConsent) await this.#failEntry(accepted, error);
    };
    clearTimeout(this.#consent);
    // A phone that cannot open the bundle informs only its user.
    const onSilence = () => stream.enqueue(() => failEntry(pairingError("link_not_completed")));
    this.#consent = setTimeout(onSilence, timing.consentMs);
    stream
      .query(finishOf(phone, accepted.ref, agreed.bundle, secret.creds.signedIdentityKey.public))
      .catch((error) => {
        // Without a response, the consent may still arrive.
        if (error instanceof QueryRejectedError) stream.enqueue(() => failEntry(codeEntryError(error)));
      });
  }

  async #agree({ code, ephemeral }: AcceptedCode, registration: BinaryNode) {
    const wrapped = bytesOf(
      childOf(registration, "link_code_pairing_wrapped_primary_ephemeral_pub"),
      WRAPPED_KEY_LENGTH,
      WRAPPED_KEY_LENGTH,
    );
    const phoneIdentity = bytesOf(childOf(registration, "primary_identity_pub"), KEY_LENGTH, KEY_LENGTH);
    if (!wrapped || !phoneIdentity) return undefined;
    const phoneEphemeral = await unwrapKey(wrapped, code);
    const identity = this.#options.secret.creds.signedIdentityKey;
    try {
      return derivePairingSecret({ ephemeral, identity, phoneEphemeral, phoneIdentity });
    } catch {
      return undefined;
    }
  }

  /** Keeps the code while it has time and entries left. */
  async #failEntry(accepted: AcceptedCode, error: PairingError): Promise<void> {
    const { secret, timing, warn } = this.#options;
    this.#isAwaitingConsent = false;
    clearTimeout(this.#consent);
    accepted.error = error;
    await secret.rotateIfDue();
    const isOver = accepted.entries >= timing.codeEntries || accepted.expiresAt.getTime() <= Date.now();
    if (isOver) this.#fail(error);
    else await warn(error);
  }

  async #replace(isManual: boolean): Promise<void> {
    const { timing, secret } = this.#options;
    this.#accepted = undefined;
    this.#isAwaitingConsent = false;
    clearTimeout(this.#expiry);
    clearTimeout(this.#consent);
    await secret.rotateIfDue();
    if (isManual || this.#shown >= timing.codes) this.#fail(pairingError("code_withdrawn"));
    else await this.requestCode();
  }

  #fail(error: PairingError): void {
    if (this.#isStopped) return;
    this.stop();
    this.#options.fail(error);
  }
}

function helloOf(phone: string, wrappedKey: Buffer, noiseKey: Uint8Array): BinaryNode {
  const attrs = {
    jid: `${phone}@s.whatsapp.net`,
    stage: "companion_hello",
    should_show_push_notification: "true",
  };
  return registrationIq(attrs, {
    link_code_pairing_wrapped_companion_ephemeral_pub: wrappedKey,
    companion_server_auth_key_pub: noiseKey,
    companion_platform_id: CHROME,
    companion_platform_display: `${BROWSER[1]} (${BROWSER[0]})`,
    link_code_pairing_nonce: Buffer.from([0]),
  });
}

function finishOf(phone: string, ref: Buffer, bundle: Buffer, identity: Uint8Array): BinaryNode {
  const attrs = { jid: `${phone}@s.whatsapp.net`, stage: "companion_finish" };
  return registrationIq(attrs, {
    link_code_pairing_wrapped_key_bundle: bundle,
    companion_identity_public: identity,
    link_code_pairing_ref: ref,
  });
}

function registrationIq(
  attrs: Record<string, string>,
  parts: Record<string, string | Uint8Array>,
): BinaryNode {
  const content = Object.entries(parts).map(([tag, part]) => ({ tag, attrs: {}, content: part }));
  return { tag: "iq", attrs: { type: "set", xmlns: "md" }, content: [{ tag: LINK_CODE, attrs, content }] };
}
