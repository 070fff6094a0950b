import { buffer } from "node:stream/consumers";
import { percentile } from "../../run/process-figures.ts";
import { startLocalServer } from "../../servers/local-server.ts";
import { serveRequests } from "./bench-process.ts";

/** Figures since the last `reset`, in milliseconds. */
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
  /** Responds to every request with 200. Returns its URL. */
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

/** Counts only texts of the form `at <due time> <number>`. */
function record(body: Buffer): void {
  const { data } = JSON.parse(body.toString("utf8")) as { data?: { message?: { text?: string } } };
  const [word, due, n] = (data?.message?.text ?? "").split(" ");
  // A late text of the previous run.
  if (word !== "at" || n === undefined || Number(due) < resetDate) return;
  if (seen.has(n)) repeated += 1;
  else delays.push(Date.now() - Number(due));
  seen.add(n);
  lastAt = performance.now();
}
