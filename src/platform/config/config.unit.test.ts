import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { ConfigError, readConfig } from "./config.ts";

const KEY = "kT9u3xQ0bZr7Wm2LpVf8Hs5Jd1Nc6Ya4";
const OTHER_KEY = "Zp4Rk8Tn1Vx6Bq3Mw7Gj2Fd9Lc5Hs0Ye";

function problemsOf(env: Record<string, string | undefined>): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.problems;
    }
    throw error;
  }
  return [];
}

describe("readConfig", () => {
  it("starts without any variable, on loopback, with every default of the documentation", () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      baseUrl: "http://127.0.0.1:3000",
      dataDir: "./data",
      roles: ["api", "sessions", "worker"],
      queue: "postgres",
      allowedHosts: ["external"],
      localTargets: "auto",
      allowAlwaysDenied: [],
      network: "whatsapp",
      sendHoldMs: 900_000,
      ackTimeoutMs: 20_000,
      logLevel: "info",
      mediaMaxBytes: 100 * 1024 * 1024,
      webhookTimeoutMs: 15_000,
      jwtLifetimeSeconds: 43_200,
      httpsOnly: false,
      production: false,
    });
    expect(config.retryScheduleMs).toEqual(
      [5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 36_000].map((s) => s * 1000),
    );
    for (const key of ["databaseUrl", "secretKey", "adminToken", "egressProxy", "faultPoint", "media"]) {
      expect(config).toHaveProperty(key, undefined);
    }
  });

  it("allows outgoing requests to the internet only, wherever the gateway listens", () => {
    for (const WAYGATE_HOST of ["127.0.0.1", "::1", "localhost", "0.0.0.0", "192.168.1.10", "::"]) {
      expect(readConfig({ WAYGATE_HOST }).allowedHosts).toEqual(["external"]);
    }
    const listed = { WAYGATE_ALLOWED_HOSTS: "private,n8n:5678" };
    expect(readConfig(listed).allowedHosts).toEqual(["private", "n8n:5678"]);
    expect(readConfig({ ...listed, WAYGATE_LOCAL_TARGETS: "on" }).allowedHosts).toEqual([
      "private",
      "n8n:5678",
      "loopback",
    ]);
  });

  it.each<[string, Record<string, string>, string]>([
    ["with nothing set", {}, "auto"],
    ["with loopback addresses", { WAYGATE_HOST: "::1", WAYGATE_BASE_URL: "http://localhost:3000" }, "auto"],
    ["listening on every address", { WAYGATE_HOST: "0.0.0.0" }, "off"],
    ["listening on another address", { WAYGATE_HOST: "192.168.1.10" }, "off"],
    ["with a public address", { WAYGATE_BASE_URL: "https://gate.example" }, "off"],
    ["with a private address", { WAYGATE_BASE_URL: "http://192.168.1.10:3000" }, "off"],
    ["behind a proxy", { WAYGATE_TRUSTED_PROXIES: "127.0.0.1" }, "off"],
    ["with a list", { WAYGATE_ALLOWED_HOSTS: "external" }, "off"],
    ["switched off", { WAYGATE_LOCAL_TARGETS: "off" }, "off"],
    ["switched on", { WAYGATE_LOCAL_TARGETS: "on", WAYGATE_HOST: "0.0.0.0" }, "on"],
  ])("may open this machine to a sole owner only in development: %s", (_what, env, expected) => {
    expect(readConfig(env).localTargets).toBe(expected);
  });

  it("opens the sandbox network to every account only while the base URL is on this machine", () => {
    const sandboxAt = (WAYGATE_BASE_URL: string) => readConfig({ WAYGATE_BASE_URL }).sandbox;
    expect(readConfig({}).sandbox).toBe("on");
    expect(["http://localhost:3000", "http://127.0.0.1", "http://[::1]:80"].map(sandboxAt)).toEqual(
      Array(3).fill("on"),
    );
    expect(["https://gate.test", "http://10.0.0.4:3000", "http://waygate.local"].map(sandboxAt)).toEqual(
      Array(3).fill("owner"),
    );
    const input = { WAYGATE_BASE_URL: "https://gate.test", WAYGATE_SANDBOX: "on" };
    expect(readConfig(input).sandbox).toBe("on");
    expect(readConfig({ WAYGATE_SANDBOX: "off" }).sandbox).toBe("off");
  });

  it("refuses a default network that is switched off", () => {
    expect(problemsOf({ WAYGATE_NETWORK: "sandbox", WAYGATE_SANDBOX: "off" })).toEqual([
      "WAYGATE_NETWORK must be whatsapp when WAYGATE_SANDBOX is off",
    ]);
  });

  it("derives a base URL that a browser can open from the listening address", () => {
    expect(readConfig({ WAYGATE_HOST: "0.0.0.0", WAYGATE_PORT: "8080" }).baseUrl).toBe(
      "http://localhost:8080",
    );
    expect(readConfig({ WAYGATE_HOST: "::1" }).baseUrl).toBe("http://[::1]:3000");
    expect(readConfig({ WAYGATE_BASE_URL: "https://gate.test/" }).baseUrl).toBe("https://gate.test");
  });

  it("reads PORT when WAYGATE_PORT is not set, and prefers WAYGATE_PORT", () => {
    expect(readConfig({ PORT: "8000" }).port).toBe(8000);
    expect(readConfig({ PORT: "8000", WAYGATE_PORT: "9000" }).port).toBe(9000);
  });

  it("treats an empty or blank variable as not set", () => {
    expect(readConfig({ WAYGATE_PORT: "", WAYGATE_ADMIN_TOKEN: " ", WAYGATE_FAULT_POINT: "" }).port).toBe(
      3000,
    );
  });

  it.each([
    ["20", 20_000],
    ["20s", 20_000],
    ["500ms", 500],
    ["1.5s", 1500],
    ["1m", 60_000],
  ])("reads the duration %s as %d ms", (text, ms) => {
    expect(readConfig({ WAYGATE_ACK_TIMEOUT: text }).ackTimeoutMs).toBe(ms);
  });

  it("reads lists with spaces and duplicates", () => {
    const config = readConfig({
      WAYGATE_ROLES: " worker , api,api ",
      WAYGATE_RETRY_SCHEDULE: "100ms, 2,3m",
      WAYGATE_ALLOWED_HOSTS: "external, n8n:5678, *.example.org,10.0.0.0/8,[fd00::1]:8080",
      WAYGATE_ALLOW_ALWAYS_DENIED: "169.254.169.254/32,fd00:ec2::254",
    });
    expect(config.roles).toEqual(["api", "worker"]);
    expect(config.retryScheduleMs).toEqual([100, 2000, 180_000]);
    expect(config.allowedHosts).toEqual([
      "external",
      "n8n:5678",
      "*.example.org",
      "10.0.0.0/8",
      "[fd00::1]:8080",
    ]);
    expect(config.allowAlwaysDenied).toEqual(["169.254.169.254/32", "fd00:ec2::254"]);
  });

  it.each([
    ["WAYGATE_PORT", "70000"],
    ["WAYGATE_PORT", "http"],
    ["WAYGATE_PORT", "-1"],
    ["WAYGATE_BASE_URL", "gate.test"],
    ["WAYGATE_BASE_URL", "ftp://gate.test"],
    ["WAYGATE_BASE_URL", "https://gate.test/waygate"],
    ["WAYGATE_BASE_URL", "https://gate.test/?a=b"],
    ["WAYGATE_BASE_URL", "https://me:pw@gate.test"],
    ["WAYGATE_CORS_ORIGINS", "*"],
    ["WAYGATE_CORS_ORIGINS", "null"],
    ["WAYGATE_CORS_ORIGINS", "https://*.example.com"],
    ["WAYGATE_CORS_ORIGINS", "https://app.example.com/"],
    ["WAYGATE_CORS_ORIGINS", "https://app.example.com,app.example.org"],
    ["WAYGATE_CORS_ORIGINS", "https://App.example.com"],
    ["DATABASE_URL", "mysql://db/x"],
    ["DATABASE_URL", "not a url"],
    ["WAYGATE_ADMIN_TOKEN", "x".repeat(31)],
    ["WAYGATE_ADMIN_FROM", "10.0.0.0/33"],
    ["WAYGATE_TRUSTED_PROXIES", "proxy.example"],
    ["WAYGATE_METRICS_TOKEN", "short"],
    ["WAYGATE_ROLES", "api,boss"],
    ["WAYGATE_ROLES", ","],
    ["WAYGATE_NODE_URL", "node-1:3000"],
    ["WAYGATE_DATABASE_DIRECT_URL", "http://10.0.0.5/waygate"],
    ["WAYGATE_MAX_REQUESTS", "-1"],
    ["WAYGATE_MAX_LAG", "2m"],
    ["WAYGATE_LOGINS_PER_SECOND", "0"],
    ["WAYGATE_CLUSTER_SECRET", "short"],
    ["WAYGATE_BACKUP_KEY", "short"],
    ["WAYGATE_QUEUE", "redis"],
    ["WAYGATE_ALLOWED_HOSTS", "external,everything!"],
    ["WAYGATE_ALLOWED_HOSTS", "10.0.0/8"],
    ["WAYGATE_ALLOWED_HOSTS", "10.0.0.0/33"],
    ["WAYGATE_ALLOWED_HOSTS", "host:99999"],
    ["WAYGATE_ALLOWED_HOSTS", "999.1.2.3"],
    ["WAYGATE_ALLOWED_HOSTS", ","],
    ["WAYGATE_ALLOW_ALWAYS_DENIED", "169.254.0.0/16"],
    ["WAYGATE_ALLOW_ALWAYS_DENIED", "metadata"],
    ["WAYGATE_NETWORK", "telegram"],
    ["WAYGATE_SANDBOX", "true"],
    ["WAYGATE_WHATSAPP_URL", "https://127.0.0.1"],
    ["WAYGATE_WHATSAPP_VERSION", "2.3000"],
    ["WAYGATE_WHATSAPP_VERSION", "2.3000.latest"],
    ["WAYGATE_WHATSAPP_ROOT_KEY", "zz"],
    ["WAYGATE_DEFAULT_COUNTRY", "Brazil"],
    ["WAYGATE_SEND_HOLD", "8d"],
    ["WAYGATE_SEND_HOLD", "soon"],
    ["WAYGATE_ACK_TIMEOUT", "0"],
    ["WAYGATE_LOG_LEVEL", "loud"],
    ["WAYGATE_MEDIA", "/srv/media"],
    ["WAYGATE_MEDIA_MAX_MB", "0"],
    ["WAYGATE_MEDIA_MAX_MB", "1.5"],
    ["WAYGATE_RETRY_SCHEDULE", "5s,,soon"],
    ["WAYGATE_RETRY_SCHEDULE", Array(21).fill("1s").join()],
    ["WAYGATE_WEBHOOK_TIMEOUT", "500ms"],
    ["WAYGATE_WEBHOOK_TIMEOUT", "31s"],
    ["WAYGATE_JWT_LIFETIME", "1s"],
    ["WAYGATE_HTTPS_ONLY", "maybe"],
    ["WAYGATE_EGRESS_PROXY", "proxy:4750"],
    ["WAYGATE_SECRET_KEY", "short"],
  ])("refuses %s=%s in one line that names it", (name, value) => {
    const problems = problemsOf({
      [name]: value,
      ...(name === "DATABASE_URL" ? { WAYGATE_SECRET_KEY: KEY } : {}),
    });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} must `));
    expect(problems[0]).not.toContain("\n");
  });

  it("reads the version of WhatsApp's web client as its three numbers", () => {
    const { whatsappVersion } = readConfig({ WAYGATE_WHATSAPP_VERSION: "2.3000.1027934701" });
    expect(whatsappVersion).toEqual([2, 3000, 1_027_934_701]);
    expect(readConfig({}).whatsappVersion).toBeUndefined();
  });

  it("accepts a direct database URL only beside the pooler's URL", () => {
    const direct = { WAYGATE_DATABASE_DIRECT_URL: "postgres://db:5432/waygate" };
    expect(problemsOf(direct)).toEqual(["WAYGATE_DATABASE_DIRECT_URL requires DATABASE_URL"]);
    const pooled = { DATABASE_URL: "postgres://pooler:6432/waygate", WAYGATE_SECRET_KEY: OTHER_KEY };
    expect(readConfig({ ...pooled, ...direct })).toMatchObject({
      databaseDirectUrl: direct.WAYGATE_DATABASE_DIRECT_URL,
    });
  });

  it("reports all problems together", () => {
    const problems = problemsOf({
      WAYGATE_PORT: "x",
      WAYGATE_QUEUE: "redis",
      WAYGATE_PROT: "1",
      DATABASE_URL: "postgres://db/waygate",
      WAYGATE_NODE_URL: "http://10.0.0.1:3000",
      WAYGATE_WHATSAPP_URL: "wss://web.whatsapp.com",
      WAYGATE_WHATSAPP_ROOT_KEY: "ab".repeat(32),
    });
    expect(problems.map((problem) => problem.split(" ")[0])).toEqual([
      "WAYGATE_PORT",
      "WAYGATE_QUEUE",
      "WAYGATE_PROT",
      "WAYGATE_SECRET_KEY",
      "WAYGATE_CLUSTER_SECRET",
      "WAYGATE_WHATSAPP_ROOT_KEY",
    ]);
  });

  it("puts each problem on its own line of the message", () => {
    const problems = ["WAYGATE_PORT must be a number", "WAYGATE_QUEUE must be a word"];
    expect(new ConfigError(problems).message.split("\n")).toEqual([
      "Waygate cannot start:",
      "  - WAYGATE_PORT must be a number",
      "  - WAYGATE_QUEUE must be a word",
    ]);
  });
});

describe("the secret key", () => {
  it("is required with DATABASE_URL, in one clear line", () => {
    const problems = problemsOf({ DATABASE_URL: "postgres://db/waygate" });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^WAYGATE_SECRET_KEY is required with DATABASE_URL; make one with/);
  });

  it("may be missing with the embedded database", () => {
    expect(readConfig({}).secretKey).toBeUndefined();
  });

  it.each([
    ["too short", "kT9u3xQ0bZr7Wm2LpVf8Hs5Jd1Nc6Ya"],
    ["changeme", "changeme-changeme-changeme-change"],
    ["change-me within", "change-me-kT9u3xQ0bZr7Wm2LpVf8Hs5J"],
    ["one character", "a".repeat(40)],
    ["few characters", "abcabdabcabeabcabdabcabeabcabdab7"],
    ["a repeated part", "aB3dE6gH".repeat(4)],
    ["a word", "my-super-secret-key-0123abcdefghij"],
    ["an example", "example-kT9u3xQ0bZr7Wm2LpVf8Hs5Jd1"],
    ["the product's name", "waygate-waygate-kT9u3xQ0bZr7Wm2Lp"],
  ])("is refused when weak (%s), with one line, with and without a database", (_, weak) => {
    for (const env of [{}, { DATABASE_URL: "postgres://db/waygate" }]) {
      const problems = problemsOf({ ...env, WAYGATE_SECRET_KEY: weak });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(/^WAYGATE_SECRET_KEY must be 32 or more random characters/);
      expect(problems[0]).not.toContain(weak);
    }
  });

  it.each([
    KEY,
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "q83vEjRWeJASNFZ4kKvN7wEjRWeJq83vASNFZ4mrze8=",
  ])("is accepted when random (%s)", (key) => {
    expect(
      readConfig({ DATABASE_URL: "postgres://db/waygate", WAYGATE_SECRET_KEY: key }).secretKey?.reveal(),
    ).toBe(key);
  });

  it("must differ from the previous key, which opens what the current key does not", () => {
    expect(problemsOf({ WAYGATE_SECRET_KEY: KEY, WAYGATE_SECRET_KEY_SECOND: KEY })).toEqual([
      "WAYGATE_SECRET_KEY_SECOND must not be the same as WAYGATE_SECRET_KEY",
    ]);
    expect(problemsOf({ WAYGATE_SECRET_KEY: KEY, WAYGATE_SECRET_KEY_SECOND: OTHER_KEY })).toEqual([]);
  });

  it("must differ from the backup key", () => {
    expect(problemsOf({ WAYGATE_SECRET_KEY: KEY, WAYGATE_BACKUP_KEY: KEY })).toEqual([
      "WAYGATE_BACKUP_KEY must not be the same as WAYGATE_SECRET_KEY",
    ]);
    expect(problemsOf({ WAYGATE_SECRET_KEY: KEY, WAYGATE_BACKUP_KEY: OTHER_KEY })).toEqual([]);
  });
});

describe("the admin token", () => {
  it("needs 32 characters but no minimum entropy", () => {
    expect(readConfig({ WAYGATE_ADMIN_TOKEN: "a".repeat(32) }).adminToken?.reveal()).toBe("a".repeat(32));
  });
});

describe("environment variables", () => {
  it("are checked: an unknown WAYGATE_ variable is a problem", () => {
    expect(problemsOf({ WAYGATE_THEME: "dark" })).toEqual([
      "WAYGATE_THEME is not a setting of Waygate; docs/reference/configuration.md lists them",
    ]);
  });

  it.each([
    ["WAYGATE_PROT", "WAYGATE_PORT"],
    ["WAYGATE_DATABASE_URL", "DATABASE_URL"],
    ["WAYGATE_PG_BIN_DIR", "PG_BIN_DIR"],
    ["WAYGATE_URL_BASE", "WAYGATE_BASE_URL"],
    ["WAYGATE_ADMINTOKEN", "WAYGATE_ADMIN_TOKEN"],
    ["WAYGATE_DATA_DIRR", "WAYGATE_DATA_DIR"],
    ["WAYGATE_LOGLEVL", "WAYGATE_LOG_LEVEL"],
    ["WAYGATE_TRUSTED_PROXY", undefined],
    ["WAYGATE_HSOT", "WAYGATE_HOST"],
    ["WAYGATE_X", undefined],
  ])("are checked: instead of %s the gateway offers %s", (written, meant) => {
    const [problem] = problemsOf({ [written]: "secret-value" });
    expect(/did you mean (\w+)\?$/.exec(problem ?? "")?.[1]).toBe(meant);
    expect(problem).not.toContain("secret-value");
  });

  it("are checked: an address of PostgreSQL in a misspelt DATABASE_URL is a problem, and no other name is", () => {
    const url = "postgres://waygate:secret-value@db/waygate";
    for (const name of ["DATABSE_URL", "DATABASE_URI", "URL_DATABASE", "DATABASEURL"])
      expect(problemsOf({ [name]: url })).toEqual([
        `${name} is not a setting of Waygate; did you mean DATABASE_URL?`,
      ]);
    expect(
      problemsOf({ DATABASE_NAME: url, CHATWOOT_DATABASE_URL: url, DATABASE_URI: "mysql://db" }),
    ).toEqual([]);
  });

  it("of other programs are ignored", () => {
    expect(
      problemsOf({ PATH: "/bin", WAYGATE_API_KEY: "wg_x", WAYGATE_EMAIL: "x", WAYGATE_TOKEN: "y" }),
    ).toEqual([]);
  });

  it("of a Kubernetes service called waygate are ignored", () => {
    const config = readConfig({
      WAYGATE_PORT: "tcp://10.0.0.1:80",
      WAYGATE_PORT_80_TCP: "tcp://10.0.0.1:80",
      WAYGATE_PORT_80_TCP_ADDR: "10.0.0.1",
      WAYGATE_SERVICE_HOST: "10.0.0.1",
      WAYGATE_SERVICE_PORT_HTTP: "80",
    });
    expect(config.port).toBe(3000);
  });

  it("with a guessable token are refused in production", () => {
    const env = { WAYGATE_ADMIN_TOKEN: "waygate-admin-token-change-me-please" };
    expect(problemsOf(env)).toEqual([]);
    expect(problemsOf({ ...env, NODE_ENV: "production" })).toEqual([
      "WAYGATE_ADMIN_TOKEN can be guessed; make one with: openssl rand -base64 32",
    ]);
    const strong = { WAYGATE_ADMIN_TOKEN: "8fJ2mQ7vXc4RtY9wLp3ZsB6nHd1KgA5e", NODE_ENV: "production" };
    expect(problemsOf(strong)).toEqual([]);
  });

  it("of a fault point are accepted in tests only", () => {
    const env = { WAYGATE_FAULT_POINT: "after-claim:2" };
    expect(readConfig({ ...env, NODE_ENV: "test" }).faultPoint).toBe("after-claim:2");
    expect(problemsOf(env)).toEqual(["WAYGATE_FAULT_POINT is for tests only (NODE_ENV=test)"]);
    expect(problemsOf({ ...env, NODE_ENV: "production" })).toHaveLength(1);
  });
});

describe("the address of the web client in tests", () => {
  const ORIGIN = "WAYGATE_CLIENT_VERSION_ORIGIN";

  it("is accepted in tests only", () => {
    const env = { [ORIGIN]: "http://127.0.0.1:9999" };
    expect(readConfig({ ...env, NODE_ENV: "test" }).clientVersionOrigin).toBe("http://127.0.0.1:9999");
    expect(readConfig({}).clientVersionOrigin).toBeUndefined();
    for (const NODE_ENV of [undefined, "production"]) {
      expect(problemsOf({ ...env, NODE_ENV })).toContain(`${ORIGIN} is for tests only (NODE_ENV=test)`);
    }
  });

  it.each(["https://web.whatsapp.com.example", "http://10.0.0.1", "here"])(
    "must be on this machine, not %s",
    (origin) => {
      expect(problemsOf({ [ORIGIN]: origin, NODE_ENV: "test" })).toEqual([
        `${ORIGIN} must be an address of this machine`,
      ]);
    },
  );
});

describe("the root key of a test server", () => {
  const rootKey = "ab".repeat(32);

  it.each(["ws://127.0.0.1:9999", "ws://localhost:9999", "ws://[::1]:9999/x"])(
    "is accepted for %s",
    (url) => {
      const config = readConfig({ WAYGATE_WHATSAPP_URL: url, WAYGATE_WHATSAPP_ROOT_KEY: rootKey });
      expect(config.whatsappRootKey).toBe(rootKey);
    },
  );

  it.each([undefined, "wss://web.whatsapp.com/ws", "ws://127.0.0.1.evil.test", "ws://10.0.0.1"])(
    "is refused for %s",
    (url) => {
      expect(problemsOf({ WAYGATE_WHATSAPP_URL: url, WAYGATE_WHATSAPP_ROOT_KEY: rootKey })).toHaveLength(1);
    },
  );
});

describe("secrets", () => {
  it("never print, however the configuration is shown", () => {
    const values = {
      WAYGATE_SECRET_KEY: KEY,
      WAYGATE_ADMIN_TOKEN: "admin-token-of-32-characters-ok!",
      WAYGATE_OWNER_PASSWORD: "a fine password",
      WAYGATE_CLUSTER_SECRET: OTHER_KEY,
      WAYGATE_METRICS_TOKEN: "metrics-token-1234",
      WAYGATE_BACKUP_KEY: "Qw3Er5Ty7Ui9Op1As2Df4Gh6Jk8Lz0Xc",
    };
    const config = readConfig(values);
    const shown = [
      JSON.stringify(config),
      inspect(config, { depth: 9, showHidden: true }),
      String(config.secretKey),
    ];
    for (const value of Object.values(values)) {
      expect(shown.join()).not.toContain(value);
    }
    expect(`${config.adminToken}`).toBe("[secret]");
    expect(config.adminToken?.reveal()).toBe(values.WAYGATE_ADMIN_TOKEN);
  });

  it("do not appear in the error message about their own variable", () => {
    const env = {
      WAYGATE_SECRET_KEY: "hunter2",
      WAYGATE_ADMIN_TOKEN: "hunter3",
      DATABASE_URL: "mysql://u:hunter4@db",
      WAYGATE_EGRESS_PROXY: "socks://u:hunter5@proxy",
    };
    expect(problemsOf(env)).toHaveLength(4);
    expect(problemsOf(env).join()).not.toContain("hunter");
  });
});
