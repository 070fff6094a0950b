import type { z } from "zod";
import { addressScopeOf, parseIp } from "../outgoing/ip-address.ts";
import type { Secret } from "../secrets/secret.ts";
import { findNearestName } from "../text/find-nearest-name.ts";
import { isWeak } from "./setting-types.ts";
import { SETTINGS } from "./settings.ts";

/** The environment of a process. */
export type Env = Readonly<Record<string, string | undefined>>;
type Settings = z.output<typeof SETTINGS>;

/** The settings of this process; durations in milliseconds unless the name says otherwise. */
export interface Config extends Settings {
  baseUrl: string;
  sandbox: "on" | "owner" | "off";
  allowedHosts: string[];
  /** `<name>:<nth>`: where to kill the process. Only with NODE_ENV=test. */
  faultPoint: string | undefined;
  /** Origin of WhatsApp's web client for tests: an HTTP address on this machine. Only with NODE_ENV=test. */
  clientVersionOrigin: string | undefined;
  production: boolean;
}

/** All problems of the environment, one readable line each. Never contains a value. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Waygate cannot start:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/** Variables of the commands that call a gateway, and variables for tests. */
const ELSEWHERE = [
  "WAYGATE_API_KEY",
  "WAYGATE_INSTANCE_ID",
  "WAYGATE_EMAIL",
  "WAYGATE_PASSWORD",
  "WAYGATE_TOKEN",
];
const FAULT_POINT = "WAYGATE_FAULT_POINT";
const CLIENT_VERSION_ORIGIN = "WAYGATE_CLIENT_VERSION_ORIGIN";
const FOR_TESTS = [FAULT_POINT, CLIENT_VERSION_ORIGIN];
// Kubernetes sets WAYGATE_SERVICE_HOST, WAYGATE_PORT_3000_TCP and so on in each pod if a service is called
// "waygate".
const SERVICE_LINK = /^WAYGATE_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?)$/;

/** Finds problems that only a feature can detect. */
export type SettingsCheck = (values: Partial<Settings>) => string[];

/** Reads the settings from the environment; throws a ConfigError that lists all problems at once. */
export function readConfig(env: Env, ...checks: readonly SettingsCheck[]): Config {
  const { values, problems } = readSettings(env);
  problems.push(
    ...unknownNames(env),
    ...misspeltDatabase(env),
    ...contradictions(values),
    ...checks.flatMap((check) => check(values)),
  );
  const origin = settingOf(env, CLIENT_VERSION_ORIGIN);
  if (origin !== undefined && !(URL.canParse(origin) && isLoopbackUrl(origin))) {
    problems.push(`${CLIENT_VERSION_ORIGIN} must be an address of this machine`);
  }
  if (env.NODE_ENV === "production") problems.push(...guessableTokens(values));
  if (problems.length > 0) {
    throw new ConfigError(problems);
  }
  const settings = values as Settings;
  return {
    ...settings,
    baseUrl: settings.baseUrl ?? defaultBaseUrl(settings),
    sandbox: settings.sandbox ?? (isReachedFromElsewhere(settings.baseUrl) ? "owner" : "on"),
    allowedHosts: allowedHostsOf(settings),
    localTargets: localTargetsOf(settings),
    faultPoint: settingOf(env, FAULT_POINT),
    clientVersionOrigin: settingOf(env, CLIENT_VERSION_ORIGIN),
    production: env.NODE_ENV === "production",
  };
}

/** Documentation of one setting. */
export interface SettingInfo {
  key: string;
  env: string;
  alias: string | undefined;
  /** Title of the section that begins with this setting. */
  section: string | undefined;
  description: string;
  /** The default in the form in which a user writes it. */
  defaultValue: string | undefined;
  /** A description of the default, if it depends on something. */
  displayed: string | undefined;
}

/** Every setting, in the order of the documentation. */
export function listSettings(): SettingInfo[] {
  return Object.entries(SETTINGS.shape).map(([key, schema]) => {
    const meta = schema.meta() ?? {};
    const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
    return {
      key,
      env: String(meta.env),
      alias: text(meta.alias),
      section: text(meta.section),
      description: meta.description ?? "",
      defaultValue: schema.def.type === "prefault" ? text(schema.def.defaultValue) : undefined,
      displayed: text(meta.shown),
    };
  });
}

// Reads each setting separately, so that an invalid one does not hide problems between the others.
function readSettings(env: Env): { values: Partial<Settings>; problems: string[] } {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const { key, env: name, alias } of listSettings()) {
    const schema: z.ZodType = SETTINGS.shape[key as keyof typeof SETTINGS.shape];
    const read = schema.safeParse(
      settingOf(env, name) ?? (alias === undefined ? undefined : settingOf(env, alias)),
    );
    if (read.success) {
      values[key] = read.data;
    } else {
      problems.push(`${name} ${read.error.issues[0]?.message ?? "is not valid"}`);
    }
  }
  return { values: values as Partial<Settings>, problems };
}

function settingOf(env: Env, name: string): string | undefined {
  const text = env[name]?.trim();
  const isServiceLink = name === "WAYGATE_PORT" && text?.startsWith("tcp://");
  return text === "" || isServiceLink ? undefined : text;
}

function unknownNames(env: Env): string[] {
  const names = [...listSettings().map((setting) => setting.env), ...ELSEWHERE];
  const known = new Set(names);
  return Object.keys(env)
    .filter((name) => name.startsWith("WAYGATE_") && !known.has(name) && !SERVICE_LINK.test(name))
    .filter(
      (name) => !FOR_TESTS.includes(name) || (env.NODE_ENV !== "test" && settingOf(env, name) !== undefined),
    )
    .map((name) =>
      FOR_TESTS.includes(name)
        ? `${name} is for tests only (NODE_ENV=test)`
        : `${name} is not a setting of Waygate${adviceFor(name, names)}`,
    );
}

/** Other programs have variables of their own, but with this one the gateway would start on an empty database. */
function misspeltDatabase(env: Env): string[] {
  if (env.DATABASE_URL !== undefined) return [];
  return Object.entries(env)
    .filter(([name, value = ""]) => !name.startsWith("WAYGATE_") && /^postgres(?:ql)?:/.test(value))
    .filter(([name]) => findNearestName(name, ["DATABASE_URL"]) !== undefined)
    .map(([name]) => `${name} is not a setting of Waygate; did you mean DATABASE_URL?`);
}

function adviceFor(name: string, names: readonly string[]): string {
  const nearest = findNearestName(name, names);
  return nearest === undefined
    ? "; docs/reference/configuration.md lists them"
    : `; did you mean ${nearest}?`;
}

function contradictions(values: Partial<Settings>): string[] {
  const problems: string[] = [];
  // `in`: a missing key has its own line already.
  if (values.databaseUrl !== undefined && "secretKey" in values && values.secretKey === undefined) {
    problems.push(
      "WAYGATE_SECRET_KEY is required with DATABASE_URL; make one with: openssl rand -base64 32 (the same on every node)",
    );
  }
  if (values.databaseDirectUrl !== undefined && "databaseUrl" in values && values.databaseUrl === undefined) {
    problems.push("WAYGATE_DATABASE_DIRECT_URL requires DATABASE_URL");
  }
  if (isSame(values.secretKeySecond, values.secretKey)) {
    problems.push("WAYGATE_SECRET_KEY_SECOND must not be the same as WAYGATE_SECRET_KEY");
  }
  if (values.nodeUrl !== undefined && "clusterSecret" in values && values.clusterSecret === undefined) {
    problems.push("WAYGATE_CLUSTER_SECRET is required with WAYGATE_NODE_URL");
  }
  if (isSame(values.backupKey, values.secretKey)) {
    problems.push("WAYGATE_BACKUP_KEY must not be the same as WAYGATE_SECRET_KEY");
  }
  if (values.network === "sandbox" && values.sandbox === "off") {
    problems.push("WAYGATE_NETWORK must be whatsapp when WAYGATE_SANDBOX is off");
  }
  if (values.whatsappRootKey !== undefined && "whatsappUrl" in values && !isLoopbackUrl(values.whatsappUrl)) {
    problems.push("WAYGATE_WHATSAPP_ROOT_KEY is allowed only if WAYGATE_WHATSAPP_URL is a loopback address");
  }
  return problems;
}

/** One line each; outside production these are blockers of /health instead. */
function guessableTokens(values: Partial<Settings>): string[] {
  const tokens = {
    WAYGATE_ADMIN_TOKEN: values.adminToken,
    WAYGATE_ADMIN_TOKEN_SECOND: values.adminTokenSecond,
    WAYGATE_METRICS_TOKEN: values.metricsToken,
  };
  return Object.entries(tokens)
    .filter(([, token]) => token !== undefined && isWeak(token.reveal()))
    .map(([name]) => `${name} can be guessed; make one with: openssl rand -base64 32`);
}

function isSame(one: Secret | undefined, other: Secret | undefined): boolean {
  return one !== undefined && one.reveal() === other?.reveal();
}

export function isLoopbackUrl(url: string | undefined): boolean {
  return url !== undefined && isLoopbackHost(new URL(url).hostname.replace(/^\[|\]$/g, ""));
}

function isReachedFromElsewhere(baseUrl: string | undefined): boolean {
  return baseUrl !== undefined && !isLoopbackUrl(baseUrl);
}

function isLoopbackHost(host: string): boolean {
  const ip = parseIp(host);
  return ip === undefined ? host === "localhost" : addressScopeOf(ip) === "loopback";
}

function allowedHostsOf({ allowedHosts = ["external"], localTargets }: Settings): string[] {
  return localTargets === "on" ? [...new Set([...allowedHosts, "loopback"])] : allowedHosts;
}

/** `auto` applies only to a developer on one machine, so a proxy, a public address or a list overrides it. */
function localTargetsOf(settings: Settings): Settings["localTargets"] {
  const { localTargets, host, baseUrl, allowedHosts, trustedProxies } = settings;
  if (localTargets !== "auto") return localTargets;
  const isHere = isLoopbackHost(host) && (baseUrl === undefined || isLoopbackUrl(baseUrl));
  return isHere && allowedHosts === undefined && trustedProxies.length === 0 ? "auto" : "off";
}

function defaultBaseUrl({ host, port }: Settings): string {
  const ip = parseIp(host);
  const isEverywhere = ip?.toByteArray().every((byte) => byte === 0) ?? false;
  const name = isEverywhere ? "localhost" : ip?.kind() === "ipv6" ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
