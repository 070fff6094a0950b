import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Stands before another server and passes its answers on as late as a test wants. */
export interface SlowRelay {
  readonly url: string;
  /** Requests that were passed on. */
  readonly passed: string[];
  /** Holds every answer for so long from now on. */
  hold(ms: number): void;
  close(): Promise<void>;
}

/** The target is asked for its address at each request. */
export async function startSlowRelay(target: () => string): Promise<SlowRelay> {
  const passed: string[] = [];
  const closing = new AbortController();
  let holdMs = 0;

  async function pass(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers, url = "/" } = asked;
    passed.push(url);
    const onward = request(new URL(url, target()), { method, headers });
    asked.pipe(onward);
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      onward.on("response", resolve).on("error", reject),
    );
    await delay(holdMs, undefined, { signal: closing.signal });
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  }

  const server = createServer((asked, response) => {
    pass(asked, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    hold(ms) {
      holdMs = ms;
    },
    close: () =>
      new Promise((resolve) => {
        closing.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
