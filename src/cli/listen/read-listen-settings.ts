import { DEFAULT_EVENTS, EXTRA_EVENTS } from "../../core/events/contract.ts";
import type { Env } from "../../platform/config/config.ts";
import { UsageError } from "../command-error.ts";
import {
  type ClientOptionTexts,
  type ClientSettings,
  readClientSettings,
  readHeaderText,
  readHttpUrl,
  textOf,
} from "../read-client-settings.ts";

/** The options about the address of a listener, as typed. */
export interface ListenAddressTexts {
  host: string;
  port: string;
  publicUrl?: string;
}

/** The options of `waygate listen`, as typed. */
export interface ListenOptionTexts extends ClientOptionTexts, ListenAddressTexts {
  secret?: string;
  events?: string;
  forward?: string;
  replay?: string[];
  since?: string;
  json?: boolean;
  verbose?: boolean;
}

export interface ListenerAddress {
  host: string;
  port: number;
  /** Where the gateway reaches the listener, if not at its own address. */
  publicUrl?: string;
}

export interface ListenSettings extends ListenerAddress {
  /** Of a webhook that exists: the command only verifies and prints. */
  secret?: string;
  /** The gateway on which the command creates a webhook. */
  gateway?: Required<Pick<ClientSettings, "baseUrl" | "apiKey">> & Pick<ClientSettings, "instanceId">;
  events: string[];
  forward?: string;
  /** Ids of events to replay. */
  replay: readonly string[];
  since?: Date;
  json: boolean;
  verbose: boolean;
}

/** Everything that happens to an instance, without the reports about webhooks themselves. */
const EVERY_EVENT: readonly string[] = [...DEFAULT_EVENTS, ...EXTRA_EVENTS];
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Throws UsageError. */
export function readListenSettings(env: Env, texts: ListenOptionTexts, now = new Date()): ListenSettings {
  const { forward, replay = [], since, json = false, verbose = false } = texts;
  return {
    ...readListenerAddress(texts),
    ...readSource(env, texts),
    events: readEvents(texts.events),
    forward: forward === undefined ? undefined : readHttpUrl("--forward", forward),
    replay,
    since: since === undefined ? undefined : readSince(since, now),
    json,
    verbose,
  };
}

/** Throws UsageError. */
export function readListenerAddress({ host, port, publicUrl }: ListenAddressTexts): ListenerAddress {
  return {
    host,
    port: readPort(port),
    publicUrl: publicUrl === undefined ? undefined : new URL(readHttpUrl("--public-url", publicUrl)).href,
  };
}

/** A secret that is typed wins; a key wins over the secret of the environment. */
function readSource(env: Env, texts: ListenOptionTexts): Pick<ListenSettings, "secret" | "gateway"> {
  const typed = readHeaderText("--secret", textOf(texts.secret));
  if (typed !== undefined) return { secret: typed };
  const { apiKey, ...gateway } = readClientSettings(env, texts);
  if (apiKey !== undefined) return { gateway: { ...gateway, apiKey } };
  const secret = readHeaderText("WEBHOOK_SECRET", textOf(undefined, env.WEBHOOK_SECRET));
  if (secret !== undefined) return { secret };
  throw new UsageError(
    "Give the API key of an instance with --key or WAYGATE_API_KEY, or with --secret the secret of a webhook that exists.",
  );
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError("--port must be a number from 0 to 65535; 0 means a free port.");
}

function readEvents(text: string | undefined): string[] {
  if (text === undefined) return [...EVERY_EVENT];
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length > 0) return names;
  throw new UsageError("--events must be names of events, such as message.received,instance.*.");
}

/** A time, or how long ago. */
export function readSince(text: string, now: Date): Date {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(now.getTime() - Number(count) * (UNIT_MS[unit] ?? 0));
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/.test(text);
  const at = new Date(isTime ? text : Number.NaN);
  if (!Number.isNaN(at.getTime())) return at;
  throw new UsageError(
    "--since must be a time, such as 2026-01-31T12:00:00Z, or how long ago, such as 30m or 2h.",
  );
}
