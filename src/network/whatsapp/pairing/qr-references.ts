import type { BinaryNode } from "baileys";
import type { WhatsAppTiming } from "../whatsapp-timing.ts";
import { bytesOf, childOf } from "./registration-stream.ts";

const MOST_REFERENCES = 20;
const MOST_REFERENCE_BYTES = 300;

/** What a QR refers to: a promise of the server for a limited time. */
export interface QrReference {
  ref: string;
  expiresAt: Date;
}

export interface QrReferencesOptions {
  timing: Pick<WhatsAppTiming, "firstQrMs" | "laterQrMs" | "scanMs">;
  /** The time of the reference on show is over. */
  onExpiry(): void;
}

/** The references of one connection, each shown for its time. */
export class QrReferences {
  readonly #options: QrReferencesOptions;
  #refs: string[] = [];
  #current: QrReference | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isFirst = true;

  constructor(options: QrReferencesOptions) {
    this.#options = options;
  }

  /** Takes the references out of `pair-device`; they replace those before. */
  receive(iq: BinaryNode): void {
    this.stop();
    const pairDevice = childOf(iq, "pair-device");
    const children = Array.isArray(pairDevice?.content) ? pairDevice.content : [];
    this.#refs = children
      .filter(({ tag }) => tag === "ref")
      .slice(0, MOST_REFERENCES)
      .flatMap((child) => bytesOf(child, 1, MOST_REFERENCE_BYTES)?.toString() ?? []);
  }

  /** The next reference, undefined when there is none left. */
  next(): QrReference | undefined {
    clearTimeout(this.#timer);
    const ref = this.#refs.shift();
    this.#current = ref === undefined ? undefined : this.#start(ref);
    return this.#current;
  }

  /** For a QR with a new secret: the reference on show, or the next one when too little time is left to scan it. */
  redraw(): QrReference | undefined {
    const current = this.#current;
    if (!current) return undefined;
    const leftMs = current.expiresAt.getTime() - Date.now();
    return leftMs < this.#options.timing.scanMs && this.#refs.length > 0 ? this.next() : current;
  }

  /** Whether the reference on show has time left. */
  isShowing(): boolean {
    return this.#current !== undefined && this.#current.expiresAt.getTime() > Date.now();
  }

  /** Nothing is shown any more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#refs = [];
    this.#current = undefined;
  }

  #start(ref: string): QrReference {
    const { timing, onExpiry } = this.#options;
    const lifeMs = this.#isFirst ? timing.firstQrMs : timing.laterQrMs;
    this.#isFirst = false;
    const expiresAt = new Date(Date.now() + lifeMs);
    // A timer may fire up to a millisecond early by the clock.
    this.#timer = setTimeout(onExpiry, lifeMs + 1);
    return { ref, expiresAt };
  }
}
