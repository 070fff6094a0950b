import { tmpdir } from "node:os";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { createClientOf } from "../../client/client.ts";
import { openDatabase } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { createHttpServer, type HttpServer } from "../../platform/http/server/http-server.ts";
import { createLog } from "../../platform/log/log.ts";
import { healthContract } from "./contract.ts";
import { createHealthChecks, type HealthCheckOptions } from "./create-health-checks.ts";
import { findBlockers, type ReadinessFindings } from "./find-blockers.ts";
import { type HealthOptions, healthHandlers } from "./health.ts";
import { createHealthCheck } from "./health-check.ts";

const ADMIN_TOKEN = "a".repeat(32);
const METRICS_TOKEN = "m".repeat(32);

let store: TestDatabase;
let options: HealthCheckOptions & Pick<HealthOptions, "clientVersion">;
let state: { isSafe: boolean; roles: string[] };
let readiness: { ready: boolean };
let servers: HttpServer[] = [];

beforeAll(async () => {
  store = await createTestDatabase();
});

afterAll(async () => {
  for (const server of servers) await server.close();
  await store.drop();
});

beforeEach(() => {
  state = { isSafe: true, roles: ["sessions", "worker"] };
  readiness = { ready: true };
  options = {
    database: store.database,
    engine: { isSafe: () => state.isSafe, hasLiveNode: async (role) => state.roles.includes(role) },
    config: {
      baseUrl: "http://127.0.0.1:3000",
      queue: "postgres",
      roles: ["api", "worker"],
      databaseUrl: undefined,
      production: false,
      backupKey: undefined,
      metricsToken: undefined,
      adminToken: undefined,
      adminTokenSecond: undefined,
      allowedHosts: ["external"],
      localTargets: "auto",
    },
    readiness,
    hooks: { findings: [] },
    dataDir: tmpdir(),
    clientVersion: {
      state: () => ({
        version: "2.3000.1043857760",
        source: "built-in",
        searching: true,
        found_at: null,
        problem: "No response within the time limit.",
        expires_at: null,
      }),
    },
  };
});

async function serve(changes: Partial<HealthCheckOptions> = {}, adminToken?: string) {
  const { config, clientVersion } = options;
  const checks = createHealthChecks({ ...options, ...changes });
  const server = await createHttpServer({
    contract: healthContract,
    handlers: healthHandlers({ config, checks, clientVersion }),
    authorise: async ({ access }, { credential }) => {
      if (credential?.value === ADMIN_TOKEN) return { kind: "admin" };
      if (access === "public" && credential?.value === METRICS_TOKEN)
        return { kind: "public", is_monitor: true };
      if (access === "public") return { kind: "public" };
      throw new GatewayError("INVALID_TOKEN", "No.");
    },
    log: createLog("silent"),
    strictOutput: true,
    bodyLimitBytes: 1000,
  });
  servers = [...servers, server];
  const { url } = await server.listen("127.0.0.1", 0);
  return { url, client: createClientOf(healthContract, { baseUrl: url, adminToken }) };
}

/** Each check has a timeout of one second, which a slow machine may exceed. It repeats after two. */
const eventually = (look: () => Promise<void>) => vi.waitFor(look, { timeout: 60_000, interval: 100 });

describe("health", () => {
  test("reports a healthy gateway with 200 and without an envelope", async () => {
    const { url } = await serve();
    await eventually(async () => {
      const response = await fetch(`${url}/health`);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        success: true,
        ok: true,
        name: "Waygate",
        status: "available",
        database: "available",
        bridge: "available",
        queue_driver: "postgres",
        queue_store: "available",
        workers: "available",
        ready: true,
        production_ready: true,
        production_blockers: [],
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      });
    });
  });

  test.each([
    ["has not finished its start", () => Object.assign(readiness, { ready: false })],
    ["may not act, because its heartbeat is stale", () => Object.assign(state, { isSafe: false })],
  ])(
    "and the probe /health/ready return 503 with the same body when the process %s",
    async (_what, change) => {
      change();
      const { url } = await serve();
      for (const path of ["/health", "/health/ready"]) {
        const response = await fetch(`${url}${path}`);
        expect(response.status).toBe(503);
        expect(await response.json()).toMatchObject({
          success: false,
          ok: false,
          ready: false,
          status: "unavailable",
        });
      }
      expect((await fetch(`${url}/health/live`)).status).toBe(200);
    },
  );

  test("returns 503 when the database is unavailable, while the process stays alive", async () => {
    const away = openDatabase("postgres://nobody@127.0.0.1:1/none");
    const { client } = await serve({ database: away });
    const health = await client.health();
    expect(health).toMatchObject({ database: "unavailable", queue_store: "unavailable", ready: false });
    expect(health.production_blockers.map(({ key }) => key)).toEqual(["database_unavailable"]);
    expect(await client.healthLive()).toMatchObject({ success: true, ok: true });
    await away.close();
  });

  test("queries the database once for many readiness probes, and never for a liveness probe", async () => {
    const spy = vi.spyOn(store.database.pool, "connect");
    const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    const { client } = await serve();
    await Promise.all(Array.from({ length: 20 }, () => client.healthLive()));
    expect(spy).not.toHaveBeenCalled();
    await Promise.all(Array.from({ length: 20 }, () => client.health()));
    const asked = spy.mock.calls.length;
    await Promise.all(Array.from({ length: 20 }, () => client.healthReady()));
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThan(10);
    expect(spy.mock.calls.length).toBe(asked);
    clock.mockRestore();
    spy.mockRestore();
  });

  test("reports a node without live workers as ready, but not for production", async () => {
    state.roles = [];
    const { client } = await serve();
    await eventually(async () => {
      const health = await client.health();
      expect(health).toMatchObject({
        ready: true,
        workers: "unavailable",
        bridge: "unavailable",
        production_ready: false,
      });
      expect(health.production_blockers.map(({ key }) => key)).toEqual([
        "no_live_worker",
        "no_live_session_host",
      ]);
    });
  });

  test("shows hosts, counts and versions only with the administrative or the metrics token", async () => {
    await store.database.pool.query(
      "insert into node (id, boot, roles, url) values ('n1', 1, '{api}', 'http://10.1.2.3:3000')",
    );
    const { client: operator } = await serve({}, ADMIN_TOKEN);
    const { client: guesser } = await serve({}, "b".repeat(32));
    const { client: anybody, url } = await serve();
    await eventually(async () => {
      const { detail } = await operator.health();
      expect(detail).toMatchObject({
        node_version: process.version,
        roles: ["api", "worker"],
        outgoing_calls: { allowed_hosts: ["external"], this_machine: true },
        database: {
          instances: 0,
          connected_instances: 0,
          failed_instances: [],
          nodes: [{ id: "n1", roles: ["api"], url: "http://10.1.2.3:3000" }],
        },
      });
    });
    const asMonitor = await fetch(`${url}/health`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
    expect(await asMonitor.json()).toMatchObject({ detail: { database: { nodes: [{ id: "n1" }] } } });
    expect(await guesser.health()).not.toHaveProperty("detail");
    expect(await anybody.health()).not.toHaveProperty("detail");
    const text = await (await fetch(`${url}/health`)).text();
    expect(text).not.toMatch(/10\.1\.2\.3|127\.0\.0\.1|v\d+\.\d+/);
  });
});

describe("the production blockers of /health", () => {
  const fine: ReadinessFindings = {
    skewMs: 5,
    pendingMigrations: [],
    hasWorker: true,
    hasSessionHost: true,
    freeDisk: 0.5,
    baseUrl: "https://gate.example",
    isDatabaseEmbedded: false,
    isProduction: true,
    weakSecrets: [],
    hasBackupKey: true,
    backupAgeMs: 3_600_000,
    hasHeldJobs: false,
    openTargets: [],
    hasOtherAccounts: true,
    hasFailedStart: false,
    hasWithheldQueue: false,
    clientVersionRemainingSeconds: undefined,
  };

  test.each<[string, Partial<ReadinessFindings>, string[]]>([
    ["nothing", {}, []],
    ["a silent database", { skewMs: undefined, pendingMigrations: undefined }, ["database_unavailable"]],
    ["a clock that is 31 s behind", { skewMs: 31_000 }, ["clock_skew"]],
    ["a clock that is 31 s ahead", { skewMs: -31_000 }, ["clock_skew"]],
    ["a migration to come", { pendingMigrations: ["0009"] }, ["migrations_pending"]],
    ["no worker", { hasWorker: false }, ["no_live_worker"]],
    ["an unknown state of the workers", { hasWorker: undefined }, ["no_live_worker"]],
    ["a full disk", { freeDisk: 0.049 }, ["disk_nearly_full"]],
    ["plain http to the world", { baseUrl: "http://gate.example" }, ["plain_http"]],
    ["plain http on this machine", { baseUrl: "http://localhost:3000" }, []],
    ["plain http on IPv6 loopback", { baseUrl: "http://[::1]:3000" }, []],
    ["a token that can be guessed", { weakSecrets: ["WAYGATE_ADMIN_TOKEN"] }, ["weak_secret"]],
    ["an open machine and several accounts", { openTargets: ["loopback"] }, ["open_outgoing_policy"]],
    ["an open machine and one account", { openTargets: ["loopback"], hasOtherAccounts: false }, []],
    ["a backup key beside the data", { hasBackupKey: false }, ["no_backup_key"]],
    ["a backup key beside the data, at home", { hasBackupKey: false, isProduction: false }, []],
    ["a backup of the day before yesterday", { backupAgeMs: 2.1 * 86_400_000 }, ["no_recent_backup"]],
    ["an unknown age of the backups", { backupAgeMs: undefined }, []],
    ["work that a restore holds back", { hasHeldJobs: true }, ["held_back"]],
    ["sessions that the gateway cannot start", { hasFailedStart: true }, ["sessions_failing"]],
    ["messages that WhatsApp withholds", { hasWithheldQueue: true }, ["queue_withheld"]],
    [
      "a version that WhatsApp refuses in six days",
      { clientVersionRemainingSeconds: 6 * 86_400 },
      ["client_version_expiring"],
    ],
    ["a version that WhatsApp refuses in eight days", { clientVersionRemainingSeconds: 8 * 86_400 }, []],
    ["an embedded database", { isDatabaseEmbedded: true }, ["embedded_database"]],
    ["an embedded database at home", { isDatabaseEmbedded: true, isProduction: false }, []],
  ])("%s", (_what, change, keys) => {
    const found = findBlockers({ ...fine, ...change }, { isOperator: true });
    expect(found.map(({ key }) => key)).toEqual(keys);
  });

  test("hide the weak secret from unauthenticated clients, and point the operator to the details", () => {
    const findings = { ...fine, weakSecrets: ["WAYGATE_ADMIN_TOKEN"], hasBackupKey: false, hasWorker: false };
    const found = findBlockers(findings, { isOperator: false });
    expect(found.map(({ key }) => key)).toEqual(["no_live_worker", "operator_only"]);
  });
});

describe("a health check", () => {
  test("that hangs fails after a second, and does not run again while it hangs", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let now = 0;
    let asked = 0;
    let respond: (value: string) => void = () => {};
    const check = createHealthCheck(
      () => {
        asked++;
        return new Promise<string>((resolve) => {
          respond = resolve;
        });
      },
      () => now,
    );
    const first = check();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await first).toBeUndefined();
    now = 2001;
    const second = check();
    expect(asked).toBe(1);
    respond("well");
    expect(await second).toBe("well");
    now = 4002;
    void check();
    expect(asked).toBe(2);
  });

  test("that throws, at once or later, fails", async () => {
    const atOnce = createHealthCheck(() => {
      throw new Error("no");
    });
    expect(await atOnce()).toBeUndefined();
    expect(await createHealthCheck(async () => Promise.reject(new Error("no")))()).toBeUndefined();
  });
});
