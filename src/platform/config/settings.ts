import { z } from "zod";
import { Secret } from "../secrets/secret.ts";
import { countryCode } from "../text/bounded-text.ts";
import { LOG_SETTINGS } from "./log-settings.ts";
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
    .describe(
      "Address to listen on. The default accepts connections from this machine only, `0.0.0.0` from all.",
    )
    .meta({ section: "Listening", env: "WAYGATE_HOST" }),
  port: type
    .wholeNumber(0, 65_535)
    .prefault("3000")
    .describe("Port to listen on. Not set: `PORT`. 0: any free port.")
    .meta({ env: "WAYGATE_PORT", alias: "PORT" }),
  baseUrl: type
    .originUrl()
    .optional()
    .describe(
      "Public address of the gateway, used in links: a host of its own, without a path. With `https`, every response has `Strict-Transport-Security`: for a year, browsers open this host and its subdomains over https only.",
    )
    .meta({ env: "WAYGATE_BASE_URL", shown: "`http://<host>:<port>`" }),
  corsOrigins: type
    .webOrigins()
    .prefault("")
    .describe(
      "Origins of web apps of your own whose pages may call the gateway from a browser. Everyone who can open such a page can read a key in it, so give each user a sign-in.",
    )
    .meta({ env: "WAYGATE_CORS_ORIGINS", shown: "none" }),
  panel: type
    .flag()
    .prefault("true")
    .describe("Whether the gateway serves the web panel at `/panel/`, and leads browsers there from `/`.")
    .meta({ env: "WAYGATE_PANEL" }),
  unauthenticatedRate: type
    .wholeNumber(0, 1_000_000)
    .prefault("600")
    .describe(
      "Requests per minute and address without a valid credential; more get 429. An IPv6 /64 counts as one address, and its /48 as ten. 0: no limit. The clients of a proxy that `WAYGATE_TRUSTED_PROXIES` does not name share one limit.",
    )
    .meta({ env: "WAYGATE_UNKNOWN_RATE" }),
  trustedProxies: type
    .cidrs()
    .prefault("")
    .describe(
      "Addresses and CIDRs of the reverse proxies in front of this gateway, whose `X-Forwarded-For` names the caller for limits, logs and `WAYGATE_ADMIN_FROM`.",
    )
    .meta({ env: "WAYGATE_TRUSTED_PROXIES", shown: "none" }),
  maxRequests: type
    .wholeNumber(0, 1_000_000)
    .prefault("2000")
    .describe(
      "Requests that this node handles at the same time, without event streams and bodies that are still arriving. Above the limit, new ones get 503 with `Retry-After` until a fifth of the running ones are done. 0: no limit.",
    )
    .meta({ env: "WAYGATE_MAX_REQUESTS" }),
  maxEventLoopDelayMs: type
    .duration("0s", "1m")
    .prefault("1s")
    .describe(
      "Event-loop delay (averaged over about one second) above which new requests get 503. 0 disables the check.",
    )
    .meta({ env: "WAYGATE_MAX_LAG" }),
  dataDir: z
    .string()
    .prefault("./data")
    .describe("Directory of the embedded database, the media files and the generated keys.")
    .meta({ section: "Storage", env: "WAYGATE_DATA_DIR" }),
  databaseUrl: type
    .urlOf("postgres", "postgresql")
    .optional()
    .describe(
      "Address of a PostgreSQL 15 or newer. Not set: Waygate starts its own PostgreSQL in the data directory.",
    )
    .meta({ env: "DATABASE_URL", shown: "the embedded database" }),
  databaseDirectUrl: type
    .urlOf("postgres", "postgresql")
    .optional()
    .describe(
      "Direct address of the same database, if `DATABASE_URL` leads to a pooler such as PgBouncer in transaction mode. See docs/operation/scaling.md.",
    )
    .meta({ env: "WAYGATE_DATABASE_DIRECT_URL", shown: "`DATABASE_URL`" }),
  pgBinDir: z
    .string()
    .optional()
    .describe(
      "Directory with the programs `initdb` and `postgres` for the embedded database. Not set: the packaged ones.",
    )
    .meta({ env: "PG_BIN_DIR" }),
  media: type
    .urlOf("s3", "file")
    .transform((text) => new Secret(text))
    .optional()
    .describe(
      "Where media files are stored: a bucket (`s3://bucket/prefix?region=eu-central-1`) or a folder that every node mounts (`file:///folder`). See docs/guides/media.md.",
    )
    .meta({ env: "WAYGATE_MEDIA", shown: "the data directory" }),
  mediaMaxBytes: type
    .wholeNumber(1, 2048)
    .transform((megabytes) => megabytes * 1024 * 1024)
    .prefault("100")
    .describe(
      "Largest media file, in MiB. Larger files are rejected when sent, and not stored when received.",
    )
    .meta({ env: "WAYGATE_MEDIA_MAX_MB" }),
  mediaRetentionMs: type
    .duration("1d", "3650d")
    .prefault("90d")
    .describe(
      "How long media files are stored, unless the instance (`media_retention_days`) or the plan (the feature of that name) sets another time.",
    )
    .meta({ env: "WAYGATE_MEDIA_RETENTION" }),
  messageRetentionMs: type
    .retention()
    .describe(
      "How long messages and their files are stored, unless the account (`message_retention_days`) sets another time. 0: without a limit. The plan can set a maximum.",
    )
    .meta({ env: "WAYGATE_MESSAGE_RETENTION" }),
  campaignRetentionMs: type
    .retention()
    .describe(
      "How long campaigns are stored after their end, unless the account (`campaign_retention_days`) sets another time. 0: without a limit.",
    )
    .meta({ env: "WAYGATE_CAMPAIGN_RETENTION" }),
  leadRetentionMs: type
    .retention()
    .describe(
      "How long leads are stored after their last change and their last message, unless the account (`lead_retention_days`) sets another time. 0: without a limit.",
    )
    .meta({ env: "WAYGATE_LEAD_RETENTION" }),
  ffmpeg: z
    .string()
    .prefault("ffmpeg")
    .describe("Program that converts audio to voice notes, and videos, audio and GIF files for phones.")
    .meta({ env: "WAYGATE_FFMPEG" }),
  ...SECRET_SETTINGS,
  backupDir: z
    .string()
    .optional()
    .describe(
      "Directory of the backup files, preferably on another disk. With several nodes, use a folder that all of them mount.",
    )
    .meta({ env: "WAYGATE_BACKUP_DIR", shown: "`backups` in the data directory" }),
  backupAt: type
    .timeOfDay()
    .prefault("03:30")
    .describe("Time of the daily backup, in UTC, such as `03:30`. `off` disables it.")
    .meta({ env: "WAYGATE_BACKUP_AT" }),
  extensions: type
    .list()
    .prefault("all")
    .describe(
      "What this gateway has beside its core: `all`, a list of names, or all but some, such as `all,-campaigns`. The routes of an extension that is switched off return `NOT_AVAILABLE`; its data stay. The same on every node.",
    )
    .meta({ section: "Extensions", env: "WAYGATE_EXTENSIONS" }),
  roles: type
    .listOf(["api", "sessions", "worker"])
    .prefault("api,sessions,worker")
    .describe(
      "What this node does: `api` handles requests, `sessions` connects instances to their network, `worker` delivers webhooks and runs campaigns and backups.",
    )
    .meta({ section: "Nodes", env: "WAYGATE_ROLES" }),
  nodeUrl: type
    .urlOf("http", "https")
    .optional()
    .describe(
      "Address under which other nodes reach this one, to use its sessions and to read files in its folder. Requires `WAYGATE_CLUSTER_SECRET`.",
    )
    .meta({ env: "WAYGATE_NODE_URL" }),
  clusterSecret: type
    .strongSecret()
    .optional()
    .describe(
      "Signs the requests between nodes. All nodes need the same value, of 32 or more random characters.",
    )
    .meta({ env: "WAYGATE_CLUSTER_SECRET" }),
  queue: type
    .oneOf(["postgres", "off"])
    .prefault("postgres")
    .describe("`off` rejects asynchronous sends and campaign starts with 503.")
    .meta({ env: "WAYGATE_QUEUE" }),
  allowedHosts: type
    .allowRules()
    .optional()
    .describe(
      "Allowed targets of outgoing requests (webhooks, media, integrations): `external`, `private`, `loopback`, addresses, CIDRs, `host` or `*.host`, with an optional `:port`. `private` opens the whole private network, a host only that name. The list applies to every account, so name a port with every host: `external,n8n:5678`. Ports of mail, SSH and databases (22, 25, 465, 587, 2375, 3306, 5432, 6379, 11211, 27017) need an entry with that port. No entry opens link-local addresses, cloud metadata addresses (except those in `WAYGATE_ALLOW_ALWAYS_DENIED`) or the ports of the gateway and its database.",
    )
    .meta({
      section: "Outgoing requests",
      env: "WAYGATE_ALLOWED_HOSTS",
      shown: "`external`",
    }),
  localTargets: type
    .oneOf(["auto", "on", "off"])
    .prefault("auto")
    .describe(
      "Whether outgoing requests may also go to this machine. `auto`: only while the owner's account is the only one, `WAYGATE_HOST` and `WAYGATE_BASE_URL` are loopback addresses, and neither `WAYGATE_ALLOWED_HOSTS` nor `WAYGATE_TRUSTED_PROXIES` is set. `on`: for every account. `off`: never.",
    )
    .meta({ env: "WAYGATE_LOCAL_TARGETS" }),
  allowAlwaysDenied: type
    .singleAddresses()
    .prefault("")
    .describe(
      "Single link-local and cloud metadata addresses to which outgoing requests may nevertheless go. Only if you know the risk.",
    )
    .meta({ env: "WAYGATE_ALLOW_ALWAYS_DENIED" }),
  httpsOnly: type
    .flag()
    .prefault("false")
    .describe("Whether outgoing requests must use https.")
    .meta({ env: "WAYGATE_HTTPS_ONLY" }),
  egressProxy: type
    .urlOf("http", "https")
    .optional()
    .describe(
      "HTTP proxy for outgoing requests, and for the connection and files of WhatsApp instances without their own proxy. For WhatsApp it must allow `CONNECT` to WhatsApp's hosts on port 443, and keep connections open that are idle for 30 seconds. The proxy resolves host names, so it must check the addresses behind them. Internal names (`localhost`, `*.localhost`, `*.localdomain`, `*.internal`, `*.local`, `*.home.arpa` and names without a dot) are allowed only if `WAYGATE_ALLOWED_HOSTS` lists them.",
    )
    .meta({ env: "WAYGATE_EGRESS_PROXY" }),
  retryScheduleMs: type
    .durations(20, "7d")
    .prefault("5s,30s,2m,10m,30m,2h,5h,10h,10h")
    .describe(
      "Delays between the attempts of a webhook delivery. The last one repeats until the webhook's maximum of attempts.",
    )
    .meta({ section: "Webhooks", env: "WAYGATE_RETRY_SCHEDULE" }),
  retentionMs: type
    .duration("7d", "3650d")
    .prefault("30d")
    .describe(
      "How long events, deliveries and their logs are stored. Events with a pending delivery are stored longer, up to the duration of 20 attempts (12 days with the default schedule).",
    )
    .meta({ env: "WAYGATE_RETENTION" }),
  webhookTimeoutMs: type
    .duration("1s", "30s")
    .prefault("15s")
    .describe("Time limit of one delivery attempt, from connecting to the end of the response.")
    .meta({ env: "WAYGATE_WEBHOOK_TIMEOUT" }),
  network: type
    .oneOf(["whatsapp", "sandbox"])
    .prefault("whatsapp")
    .describe("Network of new instances whose request names none.")
    .meta({ section: "Networks and sending", env: "WAYGATE_NETWORK" }),
  sandbox: type
    .oneOf(["on", "owner", "off"])
    .optional()
    .describe(
      "Which accounts may use the sandbox network: `on` all, `owner` only the gateway owner's, `off` none. See docs/start/sandbox.md.",
    )
    .meta({
      env: "WAYGATE_SANDBOX",
      shown: "`on`; `owner` while `WAYGATE_BASE_URL` is set and is not a loopback address",
    }),
  loginsPerSecond: type
    .wholeNumber(1, 10_000)
    .prefault("50")
    .describe("Most sessions per second that this node connects after a start or a lost connection.")
    .meta({ env: "WAYGATE_LOGINS_PER_SECOND" }),
  whatsappUrl: type
    .urlOf("ws", "wss")
    .optional()
    .describe(
      "WebSocket address of a test server to use instead of WhatsApp's, with the built-in version of the web client.",
    )
    .meta({ env: "WAYGATE_WHATSAPP_URL" }),
  whatsappRootKey: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, { error: "must be 64 hex digits" })
    .optional()
    .describe(
      "Root key of that test server, 64 hexadecimal digits. Allowed only if `WAYGATE_WHATSAPP_URL` is a loopback address.",
    )
    .meta({ env: "WAYGATE_WHATSAPP_ROOT_KEY" }),
  whatsappVersion: z
    .string()
    .regex(/^\d{1,9}\.\d{1,9}\.\d{1,12}$/, { error: "must be three numbers, such as 2.3000.1027934701" })
    .transform((text) => text.split(".").map(Number) as [number, number, number])
    .optional()
    .describe(
      "Version of WhatsApp's web client to log in with, such as `2.3000.1043857760`. Not set: the newest version of https://web.whatsapp.com, read once a day. Set it only if that request is not possible, and update it yourself: WhatsApp rejects each version after four to five months.",
    )
    .meta({ env: "WAYGATE_WHATSAPP_VERSION", shown: "the newest that was found" }),
  defaultCountry: countryCode()
    .optional()
    .describe(
      "Country of phone numbers without a country code, such as `BR`, for accounts and instances without a `default_country`. Not set: such numbers are refused.",
    )
    .meta({ env: "WAYGATE_DEFAULT_COUNTRY" }),
  sendHoldMs: type
    .duration("0s", "7d")
    .prefault("15m")
    .describe(
      "How long an asynchronous send waits for a disconnected instance. Then it fails with `INSTANCE_NOT_CONNECTED`.",
    )
    .meta({ env: "WAYGATE_SEND_HOLD" }),
  unknownOutcomeWaitMs: type
    .duration("0s", "7d")
    .prefault("60s")
    .describe(
      "How long a send with an unknown outcome waits for a receipt, before it is sent again with the same id.",
    )
    .meta({ env: "WAYGATE_UNKNOWN_OUTCOME_WAIT" }),
  ackTimeoutMs: type
    .duration("100ms", "2m")
    .prefault("20s")
    .describe(
      "How long a send waits for the network's acknowledgement, before its outcome counts as unknown.",
    )
    .meta({ env: "WAYGATE_ACK_TIMEOUT" }),
  ...LOG_SETTINGS,
});
