import { createHash } from "node:crypto";
import { access, constants, mkdtemp, rm, statfs } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import type { Config } from "../../platform/config/config.ts";
import { verifySecretCheck } from "../../platform/config/require-secret-key.ts";
import { isWeak } from "../../platform/config/setting-types.ts";
import type { Db } from "../../platform/db/database.ts";
import { findPendingMigrations } from "../../platform/db/find-pending-migrations.ts";
import { FINDINGS } from "../../platform/findings.ts";
import { createStoreName } from "../../platform/media/media-store.ts";
import { openMediaStore } from "../../platform/media/open-media-store.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";

/** The result of one check, with advice. */
export interface DoctorFinding {
  label: string;
  grade: "ok" | "warn" | "fail";
  detail: string;
  fix?: string;
}

const MIB = 1024 * 1024;
const REACH_MS = 4_000;
const WHATSAPP = "wss://web.whatsapp.com:443";
/** The name does not resolve, or this machine has no route to the network. */
const OFFLINE = new Set(["ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH"]);

export async function checkDisk(directory: string): Promise<DoctorFinding> {
  const label = "data directory";
  try {
    await access(directory, constants.W_OK);
    const { bavail, blocks, bsize } = await statfs(directory);
    const detail = `${directory}: ${Math.floor((bavail * bsize) / MIB)} MiB free (${Math.floor((100 * bavail) / blocks)} %)`;
    const { limit, warnAt, action } = FINDINGS.disk_nearly_full;
    return { label, ...graded(1 - bavail / blocks, 1 - warnAt, 1 - limit, detail, action) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT")
      return { label, grade: "ok", detail: `${directory} is created at the first start` };
    const fix = "Give this user write access, or set WAYGATE_DATA_DIR to another directory.";
    return { label, grade: "fail", detail: `${directory} cannot be written (${code})`, fix };
  }
}

/** Checks the version, role, migrations and clock of a reachable database. */
export async function checkDatabase(db: Db, detail: string): Promise<DoctorFinding[]> {
  const startedAt = Date.now();
  const { rows } = await sql<{ version: string; now: Date; role: string; is_superuser: boolean }>`
    select current_setting('server_version') as version, clock_timestamp() as now, current_user::text as role,
      (select rolsuper from pg_roles where rolname = current_user) as is_superuser`.execute(db);
  const skewMs = (rows[0]?.now.getTime() ?? 0) - (startedAt + Date.now()) / 2;
  const pending = await findPendingMigrations(db);
  const behind = `${pending.length} migrations of this version are pending`;
  return [
    { label: "database", grade: "ok", detail: `${detail} responds: PostgreSQL ${rows[0]?.version}` },
    checkRole(rows[0]?.role ?? "", rows[0]?.is_superuser ?? false),
    pending.length === 0
      ? { label: "migrations", grade: "ok", detail: "all of this version are applied" }
      : { label: "migrations", grade: "warn", detail: behind, fix: FINDINGS.migrations_pending.action },
    {
      label: "clock",
      ...graded(
        Math.abs(skewMs),
        FINDINGS.clock_skew.warnAt,
        FINDINGS.clock_skew.limit,
        `${Math.round(Math.abs(skewMs))} ms from the database's clock`,
        FINDINGS.clock_skew.action,
      ),
    },
  ];
}

function checkRole(role: string, isSuperuser: boolean): DoctorFinding {
  const label = "database role";
  if (!isSuperuser) return { label, grade: "ok", detail: `${role} is no superuser` };
  const detail = `${role} is a superuser, so an injected statement could run programs on the database's machine`;
  const fix =
    "Let a role without superuser own the database: docs/operation/production-readiness.md shows how.";
  return { label, grade: "warn", detail, fix };
}

/** Checks whether this key opens the stored secrets; a database without secrets accepts any key. */
export async function checkSecretKey(db: Db, box: SecretBox): Promise<DoctorFinding> {
  const label = "secret key";
  const row = await db.selectFrom("secret_check").select("sealed").executeTakeFirst();
  try {
    if (row) verifySecretCheck(box, row.sealed);
    return { label, grade: "ok", detail: `key ${box.key_id} opens the secrets of the database` };
  } catch {
    const detail = "it is not the one that the secrets of the database are encrypted with";
    return { label, grade: "fail", detail, fix: "Set WAYGATE_SECRET_KEY to that key." };
  }
}

/** Finds secrets that can be guessed, by the names of their variables. */
export function findWeakSecrets(
  config: Pick<Config, "adminToken" | "adminTokenSecond" | "metricsToken">,
): string[] {
  const secrets = {
    WAYGATE_ADMIN_TOKEN: config.adminToken,
    WAYGATE_ADMIN_TOKEN_SECOND: config.adminTokenSecond,
    WAYGATE_METRICS_TOKEN: config.metricsToken,
  };
  return Object.entries(secrets).flatMap(([name, secret]) =>
    secret && isWeak(secret.reveal()) ? [name] : [],
  );
}

export function checkSecrets(config: Config): DoctorFinding {
  const label = "other secrets";
  const weak = findWeakSecrets(config);
  const fix = FINDINGS.weak_secret.action;
  if (weak.length > 0) return { label, grade: "warn", detail: `${weak.join(", ")} can be guessed`, fix };
  if (!config.adminToken)
    return { label, grade: "ok", detail: "no administrative token is set, so its routes are closed" };
  return { label, grade: "ok", detail: "none can be guessed" };
}

const MOST_NAMED = 20;

/** Finds keys that can read more than their own instance. */
export async function checkKeyScopes(db: Db): Promise<DoctorFinding> {
  const wide = await db
    .selectFrom("api_key")
    .select("instance_id")
    .distinct()
    .where("scope", "=", "account")
    .orderBy("instance_id")
    .limit(MOST_NAMED + 1)
    .execute();
  const label = "API keys";
  if (wide.length === 0) return { label, grade: "ok", detail: "each reads its own instance only" };
  const named = wide.slice(0, MOST_NAMED).map(({ instance_id }) => instance_id);
  const more = wide.length > MOST_NAMED ? " and others" : "";
  return {
    label,
    grade: "ok",
    detail: `the keys of the instances ${named.join(", ")}${more} read their whole account`,
  };
}

/** Writes a small file into the media store and deletes it. */
export async function checkMediaStore({ media }: Config, dataDir: string): Promise<DoctorFinding> {
  const label = "media store";
  const scratch = await mkdtemp(join(tmpdir(), "waygate-doctor-"));
  try {
    const isBucket = media?.reveal().startsWith("s3:");
    const store = await openMediaStore({
      address: media,
      dataDir: isBucket ? scratch : dataDir,
      node: "doctor",
    });
    const draft = await store.begin();
    try {
      await draft.write(Buffer.from("waygate doctor"));
      await draft.end();
      const name = createStoreName(createHash("sha256").update(`doctor ${Date.now()}`).digest("hex"), "0");
      await draft.commit(name);
      await store.remove(name);
    } finally {
      await draft.discard();
    }
    return { label, grade: "ok", detail: `${store.description} can be written` };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { label, grade: "fail", detail, fix: "Check WAYGATE_MEDIA, its permissions and its free space." };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Checks whether the network's server accepts a connection. */
export async function checkNetwork({ whatsappUrl }: Pick<Config, "whatsappUrl">): Promise<DoctorFinding> {
  const label = "WhatsApp";
  const { hostname, port, protocol } = new URL(whatsappUrl ?? WHATSAPP);
  const reason = await knock(
    hostname.replace(/^\[|\]$/g, ""),
    Number(port) || (protocol === "ws:" ? 80 : 443),
  );
  if (reason === undefined) return { label, grade: "ok", detail: `${hostname} accepts connections` };
  const detail = `${hostname} cannot be reached (${reason})`;
  if (OFFLINE.has(reason))
    return { label, grade: "warn", detail: `${detail}: this machine seems to be offline` };
  return { label, grade: "fail", detail, fix: "Allow connections to its port 443 in the firewall." };
}

function knock(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: REACH_MS });
    const end = (reason?: string) => {
      socket.destroy();
      resolve(reason);
    };
    socket.once("connect", () => end());
    socket.once("timeout", () => end("no response"));
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}

/** `isRunning`: a gateway uses the data directory, so the port may be its own. */
export async function checkPort(
  { host, port }: Pick<Config, "host" | "port">,
  isRunning: boolean,
): Promise<DoctorFinding> {
  const label = "port";
  const reason = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
  if (reason === undefined) return { label, grade: "ok", detail: `${port} on ${host} is free` };
  if (reason === "EADDRINUSE" && isRunning) {
    return { label, grade: "ok", detail: `${port} on ${host} is in use, and a gateway is running` };
  }
  const fix = "Stop the program that uses it, or set WAYGATE_PORT and WAYGATE_HOST.";
  return { label, grade: "fail", detail: `${port} on ${host} cannot be used (${reason})`, fix };
}

function graded(value: number, warnAt: number, failAt: number, detail: string, fix: string) {
  if (value <= warnAt) return { grade: "ok" as const, detail };
  return { grade: value > failAt ? ("fail" as const) : ("warn" as const), detail, fix };
}
