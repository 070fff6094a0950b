import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { percentile } from "../../process-figures.ts";
import { serveRequests } from "./bench-process.ts";

export type DeliveryReceivers = typeof handlers;

/** What arrived at the healthy receivers since the last `reset`; times in milliseconds. */
export interface DeliveredFigures {
  count: number;
  p50: number;
  p99: number;
  max: number;
  /** From the reset to the first and the last arrival. */
  firstMs: number;
  lastMs: number;
}

/** From the record of an event to its arrival. */
const delays: number[] = [];
let [resetAt, firstAt, lastAt] = [0, 0, 0];

const handlers = {
  /** Returns the URLs; hanging receivers take a request and never respond. */
  async listen({ healthy, hanging }: { healthy: number; hanging: number }) {
    const start = (count: number, isHanging: boolean) =>
      Promise.all(Array.from({ length: count }, () => listen(isHanging)));
    return { healthy: await start(healthy, false), hanging: await start(hanging, true) };
  },

  async reset(_: null): Promise<void> {
    delays.length = 0;
    resetAt = performance.now();
    [firstAt, lastAt] = [resetAt, resetAt];
  },

  async count(_: null): Promise<number> {
    return delays.length;
  },

  async read(_: null): Promise<DeliveredFigures> {
    const at = (share: number) => percentile(delays, share);
    return {
      count: delays.length,
      p50: at(0.5),
      p99: at(0.99),
      max: at(1),
      firstMs: firstAt - resetAt,
      lastMs: lastAt - resetAt,
    };
  },
};

serveRequests(handlers);

async function listen(isHanging: boolean): Promise<string> {
  const server: Server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (isHanging) return;
    response.end();
    const { data } = JSON.parse(body.toString("utf8")) as { data?: { at?: number } };
    if (data?.at === undefined) return;
    lastAt = performance.now();
    if (delays.length === 0) firstAt = lastAt;
    delays.push(Date.now() - data.at);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
