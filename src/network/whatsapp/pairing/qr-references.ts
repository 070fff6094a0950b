import type { BinaryNode } from "baileys";
import type { QrTiming } from "../qr-timing.ts";
import { bytesOf, childOf } from "./registration-stream.ts";

const MOST_REFERENCES = 20;
const MOST_REFERENCE_BYTES = 300;

/** The reference in a QR, which the server accepts for a limited time. */
export interface QrReference {
  ref: string;
  expiresAt: Date;
}

export interface QrReferencesOptions {
  timing: Omit<QrTiming, "qrAttempts">;
  /** The current reference has expired. */
  onExpiry(): void;
}

/** The references of one connection, each shown until it expires. */
export class QrReferences {
  readonly #options: QrReferencesOptions;
  #refs: string[] = [];
  #current: QrReference | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isFirst = true;

  constructor(options: QrReferencesOptions) {
    this.#options = options;
  }

  /** Reads the references from `pair-device`; they replace the previous ones. */
  receive(iq: BinaryNode): void {
    this.stop();
    const pairDevice = childOf(iq, "pair-device");
    const children = Array.isArray(pairDevice?.content) ? pairDevice.content : [];
    this.#refs = children
      .filter(({ tag }) => tag === "ref")
      .slice(0, MOST_REFERENCES)
      .flatMap((child) => bytesOf(child, 1, MOST_REFERENCE_BYTES)?.toString() ?? []);
  }

  /** The next reference, undefined if none is left. */
  next(): QrReference | undefined {
    clearTimeout(this.#timer);
    const ref = this.#refs.shift();
    this.#current = ref === undefined ? undefined : this.#start(ref);
    return this.#current;
  }

  /**
   * For a QR with a new secret: the current reference, or the next one if too little time is left to scan it.
   */
  refresh(): QrReference | undefined {
    const current = this.#current;
    if (!current) return undefined;
    const leftMs = current.expiresAt.getTime() - Date.now();
    return leftMs < this.#options.timing.scanMs && this.#refs.length > 0 ? this.next() : current;
  }

  /** Whether the current reference has time left. */
  isShowing(): boolean {
    return this.#current !== undefined && this.#current.expiresAt.getTime() > Date.now();
  }

  /** Stops showing references. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#refs = [];
    this.#current = undefined;
  }

  #start(ref: string): QrReference {
    const { timing, onExpiry } = this.#options;
    const lifetimeMs = this.#isFirst ? timing.firstQrMs : timing.laterQrMs;
    this.#isFirst = false;
    const expiresAt = new Date(Date.now() + lifetimeMs);
    // A timer may fire up to a millisecond before the clock reaches its time.
    this.#timer = setTimeout(onExpiry, lifetimeMs + 1);
    return { ref, expiresAt };
  }
}
