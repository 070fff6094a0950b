import type { Session } from "../../network/driver.ts";

/** The result of a download from the network. `unreachable`: another attempt may succeed. */
export type InboundFileResult = "whole" | "gone" | "too_large" | "not_supported" | "unreachable";

export interface DownloadLimits {
  maxBytes: number;
  /** The download is abandoned after this time without data. */
  silentMs: number;
  /** The limit for the whole download. */
  totalMs: number;
}

const POLL_MS = 1_000;

/** Requests a file from a session and passes it on piece by piece. Throws only what `write` throws. */
export async function downloadInboundFile(
  session: Session,
  ref: unknown,
  limits: DownloadLimits,
  write: (piece: Uint8Array) => Promise<void>,
): Promise<InboundFileResult> {
  if (!session.downloadMedia) return "not_supported";
  const intake = new BoundedDownload(limits, write);
  const download = session
    .downloadMedia(ref, (piece) => intake.write(piece))
    .then(
      (end): InboundFileResult => (end === "done" ? "whole" : "gone"),
      (): InboundFileResult => "unreachable",
    );
  const end = await Promise.race([download, intake.givenUp]);
  intake.close();
  if (intake.failure) throw intake.failure.error;
  return intake.isTooLarge ? "too_large" : end;
}

/** Accepts pieces until it is closed; the driver then gets an error. */
class BoundedDownload {
  readonly givenUp: Promise<InboundFileResult>;
  isTooLarge = false;
  failure: { error: unknown } | undefined;
  readonly #limits: DownloadLimits;
  readonly #write: (piece: Uint8Array) => Promise<void>;
  readonly #startedAt = performance.now();
  #lastPieceAt = performance.now();
  #bytes = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: DownloadLimits, write: (piece: Uint8Array) => Promise<void>) {
    this.#limits = limits;
    this.#write = write;
    this.givenUp = new Promise((resolve) => {
      this.#timer = setInterval(() => this.#isOverdue() && resolve("unreachable"), POLL_MS);
    });
  }

  async write(piece: Uint8Array): Promise<void> {
    if (this.#isClosed) throw new Error("No request waits for this file any longer.");
    this.#lastPieceAt = performance.now();
    this.#bytes += piece.byteLength;
    this.isTooLarge = this.#bytes > this.#limits.maxBytes;
    if (this.isTooLarge) throw new Error("The file is too large.");
    await this.#write(piece).catch((error: unknown) => {
      this.failure = { error };
      throw error;
    });
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  #isOverdue(): boolean {
    const now = performance.now();
    return now - this.#lastPieceAt > this.#limits.silentMs || now - this.#startedAt > this.#limits.totalMs;
  }
}
