import type { BinaryNode, WASocket } from "baileys";

export interface OfflineQueueOptions {
  sock: WASocket;
  /** Without another item for this long, the rest counts as withheld. */
  stalledMs: number;
  /** The network has announced more than it delivers. */
  onWithheld(): void;
}

/** Items of one request. */
const BATCH = 100;

/**
 * Receives what waited for this device while it was offline: the network announces how much, and delivers it in
 * batches, each on request. Baileys requests the first one only.
 */
export class OfflineQueue {
  readonly #options: OfflineQueueOptions;
  #announced = 0;
  #received = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: OfflineQueueOptions) {
    this.#options = options;
    const { ws } = options.sock;
    ws.on("CB:ib,,offline_preview", ({ content }: BinaryNode) => {
      const [preview] = Array.isArray(content) ? content : [];
      this.#announced = Number(preview?.attrs.count) || 0;
      this.#received = 0;
      this.#watch();
    });
    ws.on("frame", (node: BinaryNode | Uint8Array) => {
      if (this.#timer && !(node instanceof Uint8Array) && node.attrs.offline !== undefined) this.#onItem();
    });
    ws.on("CB:ib,,offline", ({ content }: BinaryNode) => {
      // Without content it is our own, see `releaseEventBuffer`.
      if (content !== undefined) this.close();
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #onItem(): void {
    this.#received++;
    if (this.#received % BATCH === 0 && this.#received < this.#announced) this.#requestBatch();
    this.#watch();
  }

  #requestBatch(): void {
    const content = [{ tag: "offline_batch", attrs: { count: String(BATCH) } }];
    void this.#options.sock.sendNode({ tag: "ib", attrs: {}, content }).catch(() => {});
  }

  #watch(): void {
    if (this.#received >= this.#announced) this.close();
    else if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#onStalled(), this.#options.stalledMs).unref();
  }

  #onStalled(): void {
    this.#timer = undefined;
    if (this.#options.sock.ws.isOpen) this.#options.onWithheld();
  }
}
