import { buffer } from "node:stream/consumers";
import { percentile } from "../../run/process-figures.ts";
import { startLocalServer } from "../../servers/local-server.ts";
import { serveRequests } from "./bench-process.ts";

/** What arrived since the last `reset`; times in milliseconds. */
export interface ReceivedFigures {
  /** Each text once. */
  count: number;
  repeated: number;
  p50: number;
  p99: number;
  max: number;
  /** From the reset to the last arrival. */
  tookMs: number;
}

export type WebhookReceiver = typeof handlers;

const delays: number[] = [];
const seen = new Set<string>();
let [repeated, resetAt, resetDate, lastAt] = [0, 0, 0, 0];

const handlers = {
  /** Answers every request with 200; returns its URL. */
  async listen(_: null): Promise<string> {
    const { url } = await startLocalServer(async (request, response) => {
      const body = await buffer(request);
      response.end();
      record(body);
    });
    return `${url}/`;
  },

  async reset(_: null): Promise<void> {
    delays.length = 0;
    seen.clear();
    repeated = 0;
    resetAt = performance.now();
    resetDate = Date.now() - 1;
    lastAt = resetAt;
  },

  async read(_: null): Promise<ReceivedFigures> {
    const at = (share: number) => percentile(delays, share);
    return { count: seen.size, repeated, p50: at(0.5), p99: at(0.99), max: at(1), tookMs: lastAt - resetAt };
  },
};

serveRequests(handlers);

/** The text of a load is `at <due time> <number of the text>`; others do not count. */
function record(body: Buffer): void {
  const { data } = JSON.parse(body.toString("utf8")) as { data?: { message?: { text?: string } } };
  const [word, due, n] = (data?.message?.text ?? "").split(" ");
  // A text of the run before is late.
  if (word !== "at" || n === undefined || Number(due) < resetDate) return;
  if (seen.has(n)) repeated += 1;
  else delays.push(Date.now() - Number(due));
  seen.add(n);
  lastAt = performance.now();
}
