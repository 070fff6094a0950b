import { once } from "node:events";
import { PassThrough } from "node:stream";
import { abortAfter } from "../../platform/abort-after.ts";
import { isDatabaseUnavailable } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type HandlerRequest, RawResponse } from "../../platform/http/handler.ts";
import type { Route } from "../../platform/http/route.ts";
import { Semaphore } from "../../platform/limits/semaphore.ts";

const HEARTBEAT_MS = 15_000;
const LONGEST_MS = 3_600_000;
const STREAMS_AT_ONCE = 50;

/** One message of a stream of server-sent events; `data` has no line break. */
export interface StreamFrame {
  id?: string;
  event: string;
  data: string;
}

type StreamRequest = Pick<HandlerRequest<Route>, "signal" | "log">;
/** Passes frames until the signal aborts; `send` waits for a slow client instead of filling the memory. */
type Produce = (send: (frame: StreamFrame) => Promise<void>, signal: AbortSignal) => Promise<void>;

/**
 * Opens a stream of server-sent events, which ends when the client disconnects, the server stops, or after an
 * hour. Throws RATE_LIMITED if too many streams with this key are open.
 */
export type OpenEventStream = (request: StreamRequest, key: string, produce: Produce) => RawResponse;

export function createEventStreams(): OpenEventStream {
  const streams = new Semaphore({ limitPerKey: STREAMS_AT_ONCE });
  return (request, key, produce) => {
    const slot = streams.tryAcquire({ key });
    if (!slot) throw tooMany();
    const output = new PassThrough();
    void run(request, produce, output).finally(slot.release);
    return new RawResponse("text/event-stream", output, 200, {
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
  };
}

function tooMany(): GatewayError {
  return new GatewayError(
    "RATE_LIMITED",
    `${STREAMS_AT_ONCE} of these streams are open already. Close one first.`,
    {
      details: { limit: STREAMS_AT_ONCE },
      retryAfterSeconds: 30,
    },
  );
}

async function run(request: StreamRequest, produce: Produce, output: PassThrough): Promise<void> {
  const closed = new AbortController();
  output.once("close", () => closed.abort());
  const signal = abortAfter(LONGEST_MS, request.signal, closed.signal);
  const heartbeat = setInterval(() => {
    if (!output.writableNeedDrain) output.write(": still here\n\n");
  }, HEARTBEAT_MS);
  output.write("retry: 2000\n\n");
  try {
    await produce((frame) => write(output, frame, signal), signal);
  } catch (error) {
    if (!signal.aborted && !isDatabaseUnavailable(error))
      request.log.error({ err: error }, "an event stream failed");
  } finally {
    clearInterval(heartbeat);
    if (request.signal.aborted) output.destroy();
    else output.end();
  }
}

async function write(output: PassThrough, { id, event, data }: StreamFrame, signal: AbortSignal) {
  const frame = `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
  if (!output.write(frame)) await once(output, "drain", { signal });
}
