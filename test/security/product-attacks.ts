import { setTimeout as delay } from "node:timers/promises";
import { type Client, createClient } from "../../src/client/client.ts";
import { ADMIN_TOKEN } from "../gateway.ts";
import { cpuMs } from "../run/process-figures.ts";
import { PASSWORD, signIn } from "../sign-in.ts";
import { type FuzzTenant, makeTenant } from "./fuzz-target.ts";
import { type ProbedGateway, startProbedGateway } from "./probed-gateway.ts";

const READ_EVERY_MS = 20;

/** Cost of one tenant's requests, and their effect on another tenant. */
export interface AttackCost {
  attack: string;
  statuses: Record<string, number>;
  response_mb: number;
  seconds: number;
  /** CPU time of the gateway without its database. */
  processor_ms: number;
  longest_loop_delay_ms: number;
  memory_before_mb: number;
  memory_most_mb: number;
  /** Statuses of the other tenant's reads. */
  reads: Record<string, number>;
  read_p99_ms: number;
  /** Whether every session stayed on its node. */
  keeps_lanes: boolean;
}

export interface AttackedGateway {
  readonly url: string;
  readonly tenant: FuzzTenant;
  /** Sends all requests concurrently while another tenant reads. */
  attack(name: string, requests: readonly (() => Promise<Response>)[]): Promise<AttackCost>;
  end(): Promise<void>;
}

/** A gateway process with two tenants. Outside of a test run, pass the database server. */
export async function startAttackedGateway(server?: string): Promise<AttackedGateway> {
  const gateway = await startProbedGateway(
    { WAYGATE_ADMIN_TOKEN: ADMIN_TOKEN, WAYGATE_SANDBOX: "on", WAYGATE_UNKNOWN_RATE: "0" },
    server,
  );
  const admin = createClient({ baseUrl: gateway.url, adminToken: ADMIN_TOKEN });
  const make = (name: string) => makeTenant({ admin, url: gateway.url }, name);
  const tenant = await make("attacker");
  const other = createClient({ baseUrl: gateway.url, apiKey: (await make("other")).key });
  return {
    url: gateway.url,
    tenant,
    attack: (name, requests) => measureAttack(gateway, other, name, requests),
    end: () => gateway.end(),
  };
}

async function measureAttack(
  { story, read }: ProbedGateway,
  other: Client,
  attack: string,
  requests: readonly (() => Promise<Response>)[],
): Promise<AttackCost> {
  const lanes = await story.laneEpochs();
  const { pid } = story.gateway;
  const before = await read();
  const [cpuBefore, began] = [await cpuMs(pid), performance.now()];
  const statuses: Record<string, number> = {};
  let bytes = 0;
  let isOver = false;
  const asking = Promise.all(
    requests.map(async (request) => {
      const response = await request().catch(toClosed);
      // A stream may end early.
      bytes += await response.arrayBuffer().then(
        (body) => body.byteLength,
        () => 0,
      );
      count(statuses, response.status);
    }),
  ).finally(() => {
    isOver = true;
  });
  const watched = { longest_ms: 0, rss_mb: before.rss_mb };
  const reads: Record<string, number> = {};
  const times: number[] = [];
  do {
    times.push(await timeRead(other, reads));
    const now = await read();
    watched.longest_ms = Math.max(watched.longest_ms, now.longest_ms);
    watched.rss_mb = Math.max(watched.rss_mb, now.rss_mb);
    await delay(READ_EVERY_MS);
  } while (!isOver);
  await asking;
  return {
    attack,
    statuses,
    response_mb: Math.round(bytes / 1e5) / 10,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    processor_ms: (await cpuMs(pid)) - cpuBefore,
    longest_loop_delay_ms: Math.round(watched.longest_ms),
    memory_before_mb: Math.round(before.rss_mb),
    memory_most_mb: Math.round(watched.rss_mb),
    reads,
    read_p99_ms: Math.round(times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? 0),
    keeps_lanes: (await story.laneEpochs()) === lanes,
  };
}

async function timeRead(other: Client, reads: Record<string, number>): Promise<number> {
  const began = performance.now();
  const status = await other.listAccountMessages({ limit: 1 }).then(
    () => 200,
    (error: { status?: number }) => error.status ?? 0,
  );
  count(reads, status);
  return performance.now() - began;
}

/** Status 0: an oversized request may be closed before it is fully written. */
function toClosed(error: unknown): Response {
  const { code } = ((error as Error).cause ?? {}) as { code?: string };
  if (code === "EPIPE" || code === "ECONNRESET") return Response.error();
  throw error;
}

function count(statuses: Record<string, number>, status: number): void {
  statuses[status] = (statuses[status] ?? 0) + 1;
}

const AT_ONCE = 12;
const RECIPIENTS = 50_000;

/** Requests whose cost could be the product of two inputs, at their current limits. */
export async function measureProducts(server?: string): Promise<{ attacks: AttackCost[] }> {
  const gateway = await startAttackedGateway(server);
  try {
    const { client, headers } = await signIn(gateway.url, {
      email: "boss@attacker.example",
      password: PASSWORD,
    });
    const { instance } = gateway.tenant;
    const post = (path: string, type: string, body: string | Buffer) => () =>
      fetch(gateway.url + path, { method: "POST", headers: { ...headers, "content-type": type }, body });
    const add = async (name: string, message_template: string) =>
      (await client.createCampaign({ name, instance_id: instance, message_template })).data.id;
    const many = Array.from({ length: AT_ONCE }, (_, at) => at);
    const preview = (id: number) => post(`/api/campaigns/${id}/preview`, "application/json", '{"limit":20}');

    const wide = await add(
      "Wide",
      many.flatMap((_, at) => [0, 1, 2, 3].map((n) => `{{v${4 * at + n}}}`)).join(""),
    );
    for (let from = 0; from < RECIPIENTS; from += 10_000)
      await client.addRecipients({ id: wide, numbers: phonesFrom(from, 10_000) });
    const long = await add("Long", "{{a}}".repeat(13_107));
    const variables = { a: "x".repeat(1_000) };
    await client.addRecipients({
      id: long,
      recipients: phonesFrom(0, 60).map((phone) => ({ phone, variables })),
    });
    const tables = Object.entries(hostileTables()).flatMap(([name, table]) =>
      ["/api/leads/import", `/api/campaigns/${long}/recipients`].map((path) => ({
        name: `${name}, ${path}`,
        path,
        table,
      })),
    );
    const attacks = [
      await gateway.attack(
        "48 variables for 50,000 recipients, 12 previews at once",
        many.map(() => preview(wide)),
      ),
      await gateway.attack("65,535 characters of variables of 1,000 characters, 4 previews at once", [
        preview(long),
        preview(long),
        preview(long),
        preview(long),
      ]),
    ];
    for (const { name, path, table } of tables)
      attacks.push(await gateway.attack(name, [post(path.replace(/\d+/, String(long)), "text/csv", table)]));
    return { attacks };
  } finally {
    await gateway.end();
  }
}

function phonesFrom(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `5511${910_000_000 + from + at}`);
}

function hostileTables(): Record<string, string> {
  const rows = phonesFrom(0, 10_000);
  return {
    "20,000 columns and 400 rows": `phone${",".repeat(20_000)}\n${rows.slice(0, 400).join("\n")}\n`,
    "4,000,000 cells in one row": `phone,name\n"5511900000001"${",".repeat(4_000_000)}`,
    "4,000,000 columns": `phone${",".repeat(4_000_000)}\n`,
    "128 columns and 10,000 rows": `phone${",".repeat(127)}\n${rows.map((phone) => phone + ",".repeat(127)).join("\n")}\n`,
  };
}
