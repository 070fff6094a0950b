import type { Dispatcher } from "undici";

type Handler = Dispatcher.DispatchHandler;
type ArgumentsOf<Name extends keyof Handler> = Parameters<NonNullable<Handler[Name]>>;

/**
 * Passes on a response within the size limit; fails for redirects, which could lead to other hosts, and for
 * larger ones.
 */
export class BoundedResponseHandler implements Handler {
  readonly #handler: Handler;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(handler: Handler, maxBytes: number) {
    this.#handler = handler;
    this.#maxBytes = maxBytes;
  }

  onRequestStart(...args: ArgumentsOf<"onRequestStart">): void {
    this.#handler.onRequestStart?.(...args);
  }

  onRequestUpgrade(...args: ArgumentsOf<"onRequestUpgrade">): void {
    this.#handler.onRequestUpgrade?.(...args);
  }

  onResponseStart(...args: ArgumentsOf<"onResponseStart">): void {
    const [, status] = args;
    if (status >= 300 && status < 400)
      throw new Error(`The file host responded with a redirect (${status}).`);
    this.#handler.onResponseStart?.(...args);
  }

  onResponseData(...args: ArgumentsOf<"onResponseData">): void {
    const [, chunk] = args;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) throw new Error(`The file is longer than ${this.#maxBytes} bytes.`);
    this.#handler.onResponseData?.(...args);
  }

  onResponseEnd(...args: ArgumentsOf<"onResponseEnd">): void {
    this.#handler.onResponseEnd?.(...args);
  }

  onResponseError(...args: ArgumentsOf<"onResponseError">): void {
    this.#handler.onResponseError?.(...args);
  }
}
