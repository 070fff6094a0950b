import { z } from "zod";
import { Secret } from "../secrets/secret.ts";
import { SECRET_SETTINGS } from "./secret-settings.ts";
import * as type from "./setting-types.ts";

/**
 * Every setting: its shape, its default as a user writes it, its description and its environment variable.
 * `docs/reference/configuration.md` and `.env.example` are generated from this.
 */
export const SETTINGS = z.object({
  host: z
    .string()
    .prefault("127.0.0.1")
    .describe("Address to listen on. `0.0.0.0` listens on every address of the machine.")
    .meta({ section: "Listening", env: "WAYGATE_HOST" }),
  port: type
    .wholeNumber(0, 65_535)
    .prefault("3000")
    .describe("Port to listen on; `PORT` is read when this is not set. 0 takes any free port.")
    .meta({ env: "WAYGATE_PORT", alias: "PORT" }),
  baseUrl: type
    .urlOf("http", "https")
    .optional()
    .describe("Address at which others reach the gateway, used in links.")
    .meta({ env: "WAYGATE_BASE_URL", shown: "`http://<host>:<port>`" }),
  unauthenticatedRate: type
    .wholeNumber(0, 1_000_000)
    .prefault("600")
    .describe(
      "Requests a minute of one address without a valid credential, such as sign-ins and public pages; 0: no limit. Behind a proxy that `WAYGATE_TRUSTED_PROXIES` does not name all of them come from its address.",
    )
    .meta({ env: "WAYGATE_UNKNOWN_RATE" }),
  trustedProxies: type
    .cidrs()
    .prefault("")
    .describe(
      "Addresses and CIDRs of the reverse proxies before this gateway: whom they name in `X-Forwarded-For` is taken for the caller, in limits, logs and `WAYGATE_ADMIN_FROM`. Others cannot say who they are.",
    )
    .meta({ env: "WAYGATE_TRUSTED_PROXIES", shown: "none" }),
  maxRequests: type
    .wholeNumber(0, 1_000_000)
    .prefault("2000")
    .describe(
      "Requests that this node answers at the same time, server-sent streams and requests whose body has not arrived whole apart. Beyond it, and until a fifth of them are done, new ones are refused with 503 and `Retry-After`; 0: no limit.",
    )
    .meta({ env: "WAYGATE_MAX_REQUESTS" }),
  maxEventLoopDelayMs: type
    .duration("0s", "1m")
    .prefault("1s")
    .describe(
      "How late this node may be with its work, for longer than a moment, before new requests are refused so; 0: no limit.",
    )
    .meta({ env: "WAYGATE_MAX_LAG" }),
  dataDir: z
    .string()
    .prefault("./data")
    .describe("Directory of the embedded database, media and generated keys.")
    .meta({ section: "Storage", env: "WAYGATE_DATA_DIR" }),
  databaseUrl: type
    .urlOf("postgres", "postgresql")
    .optional()
    .describe(
      "PostgreSQL 15 or newer to use. Not set: Waygate starts its own PostgreSQL in the data directory.",
    )
    .meta({ env: "DATABASE_URL", shown: "the embedded database" }),
  databaseDirectUrl: type
    .urlOf("postgres", "postgresql")
    .optional()
    .describe(
      "The same database past a pooler such as PgBouncer in transaction mode, for what needs a connection of its own: beats, hints, migrations, backups. See docs/operation/scaling.md.",
    )
    .meta({ env: "WAYGATE_DATABASE_DIRECT_URL", shown: "`DATABASE_URL`" }),
  pgBinDir: z
    .string()
    .optional()
    .describe(
      "Directory with `initdb` and `postgres` to use for the embedded database instead of the packaged ones.",
    )
    .meta({ env: "PG_BIN_DIR" }),
  media: type
    .urlOf("s3", "file")
    .transform((text) => new Secret(text))
    .optional()
    .describe(
      "Where files are kept: `s3://bucket/prefix?region=eu-central-1`, with `&endpoint=https://host:9000` for another server than Amazon's and `s3://key:secret@bucket/...` for credentials that are not where Amazon's tools look for them (`AWS_ACCESS_KEY_ID` and so on); or `file:///folder` that every node mounts.",
    )
    .meta({ env: "WAYGATE_MEDIA", shown: "the data directory" }),
  mediaMaxBytes: type
    .wholeNumber(1, 2048)
    .transform((megabytes) => megabytes * 1024 * 1024)
    .prefault("100")
    .describe("Largest media file in MiB.")
    .meta({ env: "WAYGATE_MEDIA_MAX_MB" }),
  mediaRetentionMs: type
    .duration("1d", "3650d")
    .prefault("90d")
    .describe(
      "How long files are kept, where neither the instance (`media_retention_days`) nor the plan (feature of that name) says it.",
    )
    .meta({ env: "WAYGATE_MEDIA_RETENTION" }),
  messageRetentionMs: type
    .retention()
    .describe(
      "How long messages are kept, with their files, where the account (`message_retention_days`) does not say it. 0: for ever. A plan's feature `max_message_retention_days` is the ceiling of both.",
    )
    .meta({ env: "WAYGATE_MESSAGE_RETENTION" }),
  campaignRetentionMs: type
    .retention()
    .describe(
      "How long campaigns are kept after their end, where the account (`campaign_retention_days`) does not say it. 0: for ever.",
    )
    .meta({ env: "WAYGATE_CAMPAIGN_RETENTION" }),
  leadRetentionMs: type
    .retention()
    .describe(
      "How long leads are kept after their last change and the last message with the person, where the account (`lead_retention_days`) does not say it. 0: for ever.",
    )
    .meta({ env: "WAYGATE_LEAD_RETENTION" }),
  ffmpeg: z
    .string()
    .prefault("ffmpeg")
    .describe(
      "The program that makes voice notes of other audio. Not found: only Ogg Opus can go as a voice note.",
    )
    .meta({ env: "WAYGATE_FFMPEG" }),
  ...SECRET_SETTINGS,
  backupDir: z
    .string()
    .optional()
    .describe(
      "Directory of the backup files, best on another disk; with several nodes a folder that all of them mount.",
    )
    .meta({ env: "WAYGATE_BACKUP_DIR", shown: "`backups` in the data directory" }),
  backupAt: type
    .timeOfDay()
    .prefault("03:30")
    .describe("Hour of the daily backup, UTC, such as `03:30`; `off` makes none.")
    .meta({ env: "WAYGATE_BACKUP_AT" }),
  roles: type
    .listOf(["api", "sessions", "worker"])
    .prefault("api,sessions,worker")
    .describe("What this node does: answers requests, holds sessions, delivers webhooks and campaigns.")
    .meta({ section: "Nodes", env: "WAYGATE_ROLES" }),
  nodeUrl: type
    .urlOf("http", "https")
    .optional()
    .describe(
      "Address at which the other nodes reach this one, for calls of its sessions and files in its folder. Needs `WAYGATE_CLUSTER_SECRET`.",
    )
    .meta({ env: "WAYGATE_NODE_URL" }),
  clusterSecret: type
    .strongSecret()
    .optional()
    .describe("Signs the calls between nodes; the same on all of them.")
    .meta({ env: "WAYGATE_CLUSTER_SECRET" }),
  queue: type
    .oneOf(["postgres", "off"])
    .prefault("postgres")
    .describe("`off` refuses asynchronous sends and campaign starts; the rest works as before.")
    .meta({ env: "WAYGATE_QUEUE" }),
  allowedHosts: type
    .allowRules()
    .optional()
    .describe(
      "Where outgoing calls (webhooks, media, integrations) may go: `external`, `private`, `loopback`, addresses, CIDRs, `host` or `*.host`, with an optional `:port`. A host in the list allows private addresses for that name only; `external,private` opens the whole private network. The list holds for every account, so name a port with every host: `external,n8n:5678`. Ports of mail, SSH and databases (22, 25, 465, 587, 2375, 3306, 5432, 6379, 11211, 27017) need an entry with that port. No entry opens link-local addresses, cloud metadata addresses (`WAYGATE_ALLOW_ALWAYS_DENIED` lifts single ones) or the ports of the gateway and its database.",
    )
    .meta({
      section: "Outgoing calls",
      env: "WAYGATE_ALLOWED_HOSTS",
      shown: "`external`",
    }),
  localTargets: type
    .oneOf(["auto", "on", "off"])
    .prefault("auto")
    .describe(
      "Whether outgoing calls may also go to this machine, for a webhook receiver on `localhost`. `auto`: only while the owner's account is the only one, `WAYGATE_HOST` and `WAYGATE_BASE_URL` are loopback addresses, and neither `WAYGATE_ALLOWED_HOSTS` nor `WAYGATE_TRUSTED_PROXIES` is set. `on`: for every account.",
    )
    .meta({ env: "WAYGATE_LOCAL_TARGETS" }),
  allowAlwaysDenied: type
    .singleAddresses()
    .prefault("")
    .describe("Single addresses lifted from the list that is always denied, for the operator's own reasons.")
    .meta({ env: "WAYGATE_ALLOW_ALWAYS_DENIED" }),
  httpsOnly: type
    .flag()
    .prefault("false")
    .describe("Outgoing calls over https only.")
    .meta({ env: "WAYGATE_HTTPS_ONLY" }),
  egressProxy: type
    .urlOf("http", "https")
    .optional()
    .describe(
      "HTTP proxy for outgoing calls, and for the connection and the files of WhatsApp instances without a proxy of their own. For them the proxy must let `CONNECT` through to WhatsApp's hosts on port 443, and keep connections open that are quiet for 30 seconds. The proxy resolves names, so the addresses behind names are its to check; literals, names and ports are still checked here. Names of the inside (`localhost`, `*.localhost`, `*.localdomain`, `*.internal`, `*.local`, `*.home.arpa` and names without a dot) pass only when `WAYGATE_ALLOWED_HOSTS` names them.",
    )
    .meta({ env: "WAYGATE_EGRESS_PROXY" }),
  retryScheduleMs: type
    .durations(20, "7d")
    .prefault("5s,30s,2m,10m,30m,2h,5h,10h,10h")
    .describe("Waits between the tries of a webhook delivery; the last one repeats.")
    .meta({ section: "Webhooks", env: "WAYGATE_RETRY_SCHEDULE" }),
  retentionMs: type
    .duration("7d", "3650d")
    .prefault("30d")
    .describe(
      "How long events, deliveries and their logs are kept. Events that still wait for a try are kept until they have had it, at most as much longer as 20 tries can take.",
    )
    .meta({ env: "WAYGATE_RETENTION" }),
  webhookTimeoutMs: type
    .duration("1s", "30s")
    .prefault("15s")
    .describe("Longest time of one webhook delivery, connecting and answer included.")
    .meta({ env: "WAYGATE_WEBHOOK_TIMEOUT" }),
  network: type
    .oneOf(["whatsapp", "sandbox"])
    .prefault("whatsapp")
    .describe("Network of a new instance that names none.")
    .meta({ section: "Networks and sending", env: "WAYGATE_NETWORK" }),
  sandbox: type
    .oneOf(["on", "owner", "off"])
    .optional()
    .describe(
      "Who may use the sandbox network: `on` every account, `owner` the account of the gateway's owner alone, `off` nobody. The sandbox instances of the other accounts stop: their status is `error` with the reason `sandbox_not_allowed`, and their sends are refused with `FORBIDDEN`.",
    )
    .meta({
      env: "WAYGATE_SANDBOX",
      shown: "`on`; `owner` while `WAYGATE_BASE_URL` is set and is not a loopback address",
    }),
  loginsPerSecond: type
    .wholeNumber(1, 10_000)
    .prefault("50")
    .describe("Sessions that this node signs in a second at most, after a start or a lost connection.")
    .meta({ env: "WAYGATE_LOGINS_PER_SECOND" }),
  whatsappUrl: type
    .urlOf("ws", "wss")
    .optional()
    .describe(
      "Session server to use instead of WhatsApp's, for a test server. While it is set the gateway does not look for newer versions of WhatsApp's web client.",
    )
    .meta({ env: "WAYGATE_WHATSAPP_URL" }),
  whatsappRootKey: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, { error: "must be 64 hex digits" })
    .optional()
    .describe("Root key of that test server, 64 hex digits. Honoured for loopback URLs only.")
    .meta({ env: "WAYGATE_WHATSAPP_ROOT_KEY" }),
  whatsappVersion: z
    .string()
    .regex(/^\d{1,9}\.\d{1,9}\.\d{1,12}$/, { error: "must be three numbers, such as 2.3000.1027934701" })
    .transform((text) => text.split(".").map(Number) as [number, number, number])
    .optional()
    .describe(
      "Version of WhatsApp's web client to log in as, such as `2.3000.1043857760`. WhatsApp refuses each version after four to five months. Not set: the gateway asks https://web.whatsapp.com for the newest version at the start and once a day. Set it where that call is not allowed, and renew it yourself.",
    )
    .meta({ env: "WAYGATE_WHATSAPP_VERSION", shown: "the newest that was found" }),
  defaultCountry: z
    .string()
    .regex(/^[A-Za-z]{2}$/, { error: "must be a country of two letters, such as BR" })
    .toUpperCase()
    .optional()
    .describe(
      "Country of numbers given without a country code, such as `BR`. Not set: numbers are taken as given.",
    )
    .meta({ env: "WAYGATE_DEFAULT_COUNTRY" }),
  sendHoldMs: type
    .duration("0s", "7d")
    .prefault("15m")
    .describe("How long an asynchronous send waits for a disconnected instance before it fails.")
    .meta({ env: "WAYGATE_SEND_HOLD" }),
  unknownOutcomeWaitMs: type
    .duration("0s", "7d")
    .prefault("60s")
    .describe(
      "How long a send whose fate is unknown after a crash waits for a receipt before the same id is sent again.",
    )
    .meta({ env: "WAYGATE_DOUBT_WAIT" }),
  ackTimeoutMs: type
    .duration("100ms", "2m")
    .prefault("20s")
    .describe("How long a send waits for the network's acknowledgement.")
    .meta({ env: "WAYGATE_ACK_TIMEOUT" }),
  logLevel: type
    .oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .prefault("info")
    .describe("Least level that is logged.")
    .meta({ section: "Logs and metrics", env: "WAYGATE_LOG_LEVEL" }),
  metricsToken: type
    .secret(16)
    .optional()
    .describe(
      "Token of `/metrics`, 16 characters or more. It also opens the details of `/health`, as a bearer token. Not set: `/metrics` is closed, and those details take the administrative token.",
    )
    .meta({ env: "WAYGATE_METRICS_TOKEN" }),
});
