import { type BinaryNode, buildPairingQRData } from "baileys";
import type { NetworkEvent, PairingError, QrReason } from "../../driver.ts";
import type { QrTiming } from "../qr-timing.ts";
import { BROWSER } from "./pairing-code.ts";
import { pairingError } from "./pairing-error.ts";
import type { PairingSecret } from "./pairing-secret.ts";
import { type QrReference, QrReferences } from "./qr-references.ts";
import type { RegistrationStream } from "./registration-stream.ts";

export interface QrDisplayOptions {
  stream: RegistrationStream;
  secret: PairingSecret;
  timing: QrTiming;
  /** QRs that earlier connections showed. */
  shown: number;
  /** False after the end of the pairing, and during a ceremony. */
  mayShowNext(): boolean;
  report(event: NetworkEvent): Promise<void>;
  /** The last QR has expired. */
  fail(error: PairingError): void;
  /** The connection can show no more QRs. */
  stop(detail: string): void;
}

/** Builds the QRs of one connection and shows one after the other, each until it expires. */
export class QrDisplay {
  readonly #options: QrDisplayOptions;
  readonly #references: QrReferences;
  #shown: number;

  constructor(options: QrDisplayOptions) {
    const { stream, timing, shown } = options;
    this.#options = options;
    this.#shown = shown;
    const onExpiry = () => stream.enqueue(() => this.#showNext());
    this.#references = new QrReferences({ timing, onExpiry });
  }

  /** QRs so far, with those of earlier connections. */
  get shown(): number {
    return this.#shown;
  }

  /** Shows the first QR of the references in `pair-device`. */
  async begin(iq: BinaryNode): Promise<void> {
    this.#references.receive(iq);
    await this.#showNext();
  }

  /** Shows the QR again with the current secret; it does not count as an attempt. */
  async refresh(): Promise<void> {
    const reference = this.#references.refresh();
    if (reference) await this.#show(reference, "refreshed");
  }

  stop(): void {
    this.#references.stop();
  }

  /** Ignores an expiry after a refresh, a ceremony or a pairing. */
  async #showNext(): Promise<void> {
    const { timing, mayShowNext, fail, stop } = this.#options;
    if (!mayShowNext() || this.#references.isShowing()) return;
    if (this.#shown >= timing.qrAttempts) return fail(pairingError("qr_expired"));
    const reference = this.#references.next();
    if (!reference) return stop("the references of the connection are used up");
    this.#shown++;
    await this.#show(reference, "new");
  }

  async #show({ ref, expiresAt: expires_at }: QrReference, reason: QrReason): Promise<void> {
    const { secret, timing, report } = this.#options;
    const { noiseKey, signedIdentityKey, advSecretKey } = secret.creds;
    const [noise, identity] = [noiseKey, signedIdentityKey].map((key) =>
      Buffer.from(key.public).toString("base64"),
    ) as [string, string];
    const qr = buildPairingQRData(ref, noise, identity, advSecretKey, BROWSER);
    const max_attempts = timing.qrAttempts;
    await report({ type: "qr", qr, expires_at, attempt: this.#shown, max_attempts, reason });
  }
}
