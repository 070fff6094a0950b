import { cpus, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, WaygateError } from "../../src/client/client.ts";
import type { E2eStory, PairedInstance } from "../e2e/e2e-story.ts";
import { newPhone, waitUntil } from "../gateway.ts";
import { percentile } from "../run/process-figures.ts";
import type { Receiver } from "../servers/receiver.ts";

/** An instance whose webhook goes to the receiver of the row. */
export interface Endpoint extends PairedInstance {
  client: Client;
}

/** Pairs instances, each with a webhook for inbound messages. */
export async function pairEach(story: E2eStory, urls: readonly string[]): Promise<Endpoint[]> {
  const owner = await story.signIn();
  const endpoints: Endpoint[] = [];
  for (const url of urls) endpoints.push(await pairWith(story, owner, url));
  await waitUntil(async () => {
    const states = await Promise.all(endpoints.map((endpoint) => story.isConnected(endpoint)));
    return states.every(Boolean);
  }, 60_000);
  return endpoints;
}

async function pairWith(story: E2eStory, owner: Client, url: string): Promise<Endpoint> {
  const { data } = await owner.createInstance({
    name: "Shop",
    network: "sandbox" as const,
    webhook: { url, events: ["message.received" as const] },
  });
  const instance = { id: data.id, api_key: data.api_key, phone: newPhone() };
  const client = story.clientOf(instance);
  await client.sandboxScan({ id: instance.id, phone: instance.phone });
  return { ...instance, client };
}

/** An open loop: messages at a constant rate, independent of earlier ones, so that queueing counts. */
export async function receiveSteadily(
  endpoints: readonly Endpoint[],
  { name, perSecond, seconds }: { name: string; perSecond: number; seconds: number },
): Promise<Map<string, number>> {
  const saidAt = new Map<string, number>();
  const began = performance.now();
  const under: Promise<unknown>[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    await delay(Math.max(0, began + (n * 1000) / perSecond - performance.now()));
    const endpoint = endpoints[n % endpoints.length];
    if (!endpoint) throw new Error("there is nobody to write to");
    const text = `${name}-${n}`;
    saidAt.set(text, Date.now());
    const from = `5521966${100_000 + (n % 50)}`;
    const said = endpoint.client.sandboxReceive({ id: endpoint.id, from, text });
    under.push(said.catch((error) => takeBack(error, () => saidAt.delete(text))));
  }
  await Promise.all(under);
  return saidAt;
}

/** For a temporary refusal: forgets the message. */
function takeBack(error: unknown, forget: () => void): void {
  if (!(error instanceof WaygateError) || error.status !== 503) throw error;
  forget();
}

/** The messages of one load as their receivers saw them. */
export interface LoadOutcome {
  lost: number;
  /** Deliveries after the first of each. */
  duplicates: number;
  p50: number;
  p99: number;
}

/** Waits for all messages and returns their delays in ms. */
export async function readLoad(
  saidAt: ReadonlyMap<string, number>,
  receivers: readonly Receiver[],
  timeoutMs = 30_000,
): Promise<LoadOutcome> {
  const arrivals = () =>
    receivers.flatMap(({ received }) =>
      received.flatMap(({ body, at }) => {
        const text: string | undefined = body?.data?.message?.text;
        const said = text === undefined ? undefined : saidAt.get(text);
        return text === undefined || said === undefined ? [] : [{ text, tookMs: at - said }];
      }),
    );
  const seen = () => new Set(arrivals().map(({ text }) => text)).size;
  await waitUntil(() => seen() >= saidAt.size, timeoutMs).catch(() => {});
  const delays = arrivals().map(({ tookMs }) => tookMs);
  return {
    lost: saidAt.size - seen(),
    duplicates: delays.length - seen(),
    p50: percentile(delays, 0.5),
    p99: percentile(delays, 0.99),
  };
}

/** Repeated deliveries without an attempt whose response came too late. None are allowed. */
export async function findNeedless(story: E2eStory, loads: readonly LoadOutcome[]): Promise<string[]> {
  const repeated = loads.reduce((sum, { duplicates }) => sum + duplicates, 0);
  const [unread] = await story.rows<{ tries: number }>(
    "select count(*)::int as tries from attempt where url = $1 and status_code is null",
    story.receiver.url,
  );
  const needless = repeated - (unread?.tries ?? 0);
  return needless > 0 ? [`${needless} deliveries were repeated after their 2xx was read`] : [];
}

/** An idle p99 above this shows the machine's load, not the gateway's. */
const BUSY_MACHINE_MS = 250;
/** Smaller differences are noise. */
const NOISE_MS = 25;

/**
 * Compares the slowest message with and without the fault: a text for the figures, and whether the limit is exceeded.
 */
export function compareLoads(
  calm: LoadOutcome,
  beside: LoadOutcome,
  mostRise: number,
): { word: string; isTooMuch: boolean; notJudged?: string } {
  const rise = beside.p99 / calm.p99 - 1;
  const word = `${calm.p99} / ${beside.p99} (${rise < 0 ? "" : "+"}${(rise * 100).toFixed(0)} %)`;
  if (calm.p99 > BUSY_MACHINE_MS) {
    return { word, isTooMuch: false, notJudged: `a p99 of ${calm.p99} ms without the fault` };
  }
  return { word, isTooMuch: rise >= mostRise && beside.p99 - calm.p99 > NOISE_MS };
}

/** With more runnable processes per processor, durations show the machine's load. */
const CROWDED = 2;

/** Why times cannot be checked on this machine now; undefined if they can. */
export function crowdedMachine(): string | undefined {
  const [load = 0] = loadavg();
  return load > CROWDED * cpus().length ? `a load of ${load.toFixed(0)}` : undefined;
}
