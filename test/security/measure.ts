import { inspect } from "node:util";
import { contract } from "../../src/contract.ts";
import type { Route } from "../../src/platform/http/route.ts";
import { describeMachine } from "../run/process-figures.ts";
import { startTestPostgres } from "../run/test-postgres.ts";
import { measureHeldConnections } from "./held-connections.ts";
import { measureLargeResponses } from "./large-responses.ts";
import { startProbedGateway } from "./probed-gateway.ts";
import { measureProducts } from "./product-attacks.ts";
import { headOf, type RawHead, requestOf, statusOf } from "./raw-request.ts";

export interface TimedRequest {
  route: string;
  attack: string;
  status: number;
  /** Event loop time, the minimum of several tries. */
  loop_ms: number;
}

export interface StopwatchFigures {
  routes: number;
  requests: number;
  /** The same measurement without a request, which every figure includes. */
  idle_ms: number;
  over_20_ms: number;
  server_errors: number;
  memory_rise_mb: number;
  slowest: TimedRequest[];
}

const BUDGET_MS = 20;
const MOST_BODY = 65_000;
/** Maximum header size, less the other headers. */
const MOST_HEAD = 15_800;
const SHOWN = 10;

/** The minimum of so many tries counts, because other programs can lengthen one. */
const TRIES = 5;

/**
 * Unauthenticated clients send the worst permitted request to every route, inside and outside of the contract.
 * `server`: PostgreSQL, outside of a test run.
 */
export async function timeStrangers(server?: string): Promise<StopwatchFigures> {
  const env = {
    WAYGATE_UNKNOWN_RATE: "0",
    WAYGATE_TRUSTED_PROXIES: "127.0.0.1",
    WAYGATE_METRICS_TOKEN: "m".repeat(32),
  };
  const { url, read, end, story } = await startProbedGateway(env, server);
  const timeOne = async (bytes?: Buffer) => {
    const before = await read();
    const status = bytes ? await statusOf(url, bytes) : 0;
    return { status, loop_ms: (await read()).active_ms - before.active_ms };
  };
  const timeLeast = async (bytes?: Buffer) => {
    let least = await timeOne(bytes);
    for (let nth = 1; nth < TRIES && (least.loop_ms > BUDGET_MS / 2 || !bytes); nth++) {
      const again = await timeOne(bytes);
      if (again.loop_ms < least.loop_ms) least = again;
    }
    return least;
  };
  try {
    const timed: TimedRequest[] = [];
    const requests = strangersRequests();
    for (const request of requests.slice(0, WARM_UP)) await statusOf(url, request.bytes);
    const { rss_mb } = await read();
    const idle = await timeLeast();
    for (const { route, attack, bytes } of requests) {
      timed.push({ route, attack, ...(await timeLeast(bytes)) });
    }
    return {
      routes: new Set(timed.map(({ route }) => route)).size,
      requests: timed.length,
      idle_ms: round(idle.loop_ms),
      server_errors: timed.filter(({ status }) => status >= 500).length,
      over_20_ms: timed.filter(({ loop_ms }) => loop_ms > BUDGET_MS).length,
      memory_rise_mb: Math.round((await read()).rss_mb - rss_mb),
      slowest: timed
        .toSorted((a, b) => b.loop_ms - a.loop_ms)
        .slice(0, SHOWN)
        .map((one) => ({ ...one, loop_ms: round(one.loop_ms) })),
    };
  } catch (error) {
    throw new Error(`The gateway did not respond. It said:\n${story.gateway.output()}`, { cause: error });
  } finally {
    await end();
  }
}

/** Requests before the first measurement, because late compilation is no cost of the attack. */
const WARM_UP = 200;

interface StrangersRequest {
  route: string;
  attack: string;
  bytes: Buffer;
}

/** Not in a contract: metrics, internal calls, unknown paths, wrong methods. */
const OTHERS = ["GET /metrics", "POST /internal/calls", "POST /no/such/route", "PATCH /health", "OPTIONS /"];

function strangersRequests(): StrangersRequest[] {
  const routes = Object.values<Route>(contract).map(({ http }) => http);
  return [...routes, ...OTHERS].flatMap((route) =>
    Object.entries(attacksOn(route)).map(([attack, bytes]) => ({ route, attack, bytes })),
  );
}

function attacksOn(http: string): Record<string, Buffer> {
  const [method = "GET", path = "/"] = http.split(" ");
  const filled = (text: string) => path.replace(/:\w+/g, text);
  const ask = (head: RawHead, body = "") =>
    requestOf({ method, path: filled("1"), ...head }, Buffer.from(body));
  const json = (body: string) =>
    ask({ headers: ["content-type: application/json"] }, body.slice(0, MOST_BODY));
  const header = (name: string, unit: string) =>
    ask({ headers: [`${name}: ${unit.repeat(Math.floor(MOST_HEAD / unit.length))}`] });
  return {
    nothing: ask({}),
    "a long path": ask({ path: filled("%61".repeat(1_000)) }),
    "a path of slashes": ask({ path: `${filled("1")}${"/".repeat(MOST_HEAD)}` }),
    "a path of dots": ask({ path: `${filled("1")}${"/..".repeat(MOST_HEAD / 3)}` }),
    "broken escapes": ask({ path: filled("%ff%".repeat(250)) }),
    "a query of many fields": ask({ path: `${filled("1")}?${"a&".repeat(MOST_HEAD / 2)}` }),
    "a query of one field, again and again": ask({
      path: `${filled("1")}?${"limit=1&".repeat(MOST_HEAD / 8)}`,
    }),
    "a query of brackets": ask({ path: `${filled("1")}?a${"[a]".repeat(MOST_HEAD / 3)}=1` }),
    "a long key": header("x-api-key", "a"),
    "a long token": header("authorization", "a."),
    "a token of a long header": ask({ headers: [`authorization: Bearer ${longToken()}`] }),
    "a long cookie": header("cookie", "a=b;"),
    "many forwarders": header("x-forwarded-for", "1,"),
    "many accepted types": header("accept", "a/b;q=1,"),
    "a long type": ask({ headers: [`content-type: application/json;${" ;a=b".repeat(3_000)}`] }, "{}"),
    "a long charset": ask(
      { headers: [`content-type: application/json; ${"charset =".repeat(1_700)}`] },
      "{}",
    ),
    "a long request id": header("x-request-id", "a"),
    "a long range": header("range", "bytes=0-0,"),
    "many headers": Buffer.from(
      headOf({ method, path, headers: [..."a".repeat(1_900)].map((a) => `${a}: b`) }).replace(
        /\r\n\r\n$/,
        "\r\nconnection: close\r\n\r\n",
      ),
    ),
    ...(!/^(GET|DELETE|OPTIONS)$/.test(method) && {
      "a body of lists": json(`[${"[],".repeat(MOST_BODY / 3)}`),
      "a body of numbers": json(`[${"1,".repeat(MOST_BODY / 2 - 2)}1]`),
      "a deep body": json("[".repeat(MOST_BODY)),
      "a body of many names": json(`{${Array.from({ length: 6_000 }, (_, at) => `"k${at}":0`).join()}}`),
      "a body of digits": json(`{"email":${"9".repeat(MOST_BODY - 20)}}`),
      "a long text": json(`{"email":"${"a@".repeat(30_000)}","password":"${"x".repeat(4_000)}"}`),
      "a text of escapes": json(`{"email":"${"\\ud83d".repeat(10_000)}","password":"x"}`),
      "bytes that are no text": ask({ headers: ["content-type: application/json"] }, "\xff".repeat(30_000)),
      "a form of many parts": ask(
        { headers: ["content-type: multipart/form-data; boundary=b"] },
        `${'--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(1_000)}--b--\r\n`,
      ),
      "a body in chunks of one byte": Buffer.from(
        `${headOf({
          method,
          path: filled("1"),
          headers: ["content-type: application/json", "transfer-encoding: chunked", "connection: close"],
        })}${"1\r\nx\r\n".repeat(MOST_BODY)}0\r\n\r\n`,
      ),
      "a table": ask({ headers: ["content-type: text/csv"] }, '"\n'.repeat(30_000)),
    }),
  };
}

function longToken(): string {
  const part = (text: string) => Buffer.from(text).toString("base64url");
  return `${part(`{"alg":"HS256","kid":"${"k".repeat(8_000)}"}`)}.${part("{}")}.${part("x".repeat(500))}`;
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}

type Measurement = (server: string) => Promise<object>;

const MEASUREMENTS: Readonly<Record<string, Measurement>> = {
  "held-connections": (server) => measureHeldConnections({ connections: 1_000, probes: 200, server }),
  "large-responses": (server) =>
    measureLargeResponses({ downloads: 20, fileBytes: 50 * 1024 * 1024, server }),
  products: (server) => measureProducts(server),
  strangers: (server) => timeStrangers(server),
};

const [named] = process.argv.slice(2);
if (named !== undefined && !Object.hasOwn(MEASUREMENTS, named)) {
  throw new Error(`There is no measurement ${named}; there are ${Object.keys(MEASUREMENTS).join(", ")}`);
}
const postgres = await startTestPostgres();
try {
  console.log(describeMachine());
  for (const [name, measure] of Object.entries(MEASUREMENTS)) {
    if (named === undefined || named === name)
      console.log(name, inspect(await measure(postgres.url), { depth: null }));
  }
} finally {
  await postgres.stop();
}
