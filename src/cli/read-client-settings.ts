import type { Env } from "../platform/config/config.ts";
import { UsageError } from "./command-error.ts";

/** The gateway that a command calls. */
export interface ClientSettings {
  baseUrl: string;
  apiKey?: string;
  /** Absent: the instance of the key. */
  instanceId?: number;
}

/** The options of a command about the gateway, as typed. */
export interface ClientOptionTexts {
  url?: string;
  key?: string;
  instance?: string;
}

/** The address of a gateway that was started without settings. */
export const USUAL_URL = "http://127.0.0.1:3000";

/** An option wins over its variable. Throws UsageError. */
export function readClientSettings(env: Env, { url, key, instance }: ClientOptionTexts): ClientSettings {
  return {
    baseUrl: readGatewayUrl(env, url),
    apiKey: readHeaderText("--key or WAYGATE_API_KEY", textOf(key, env.WAYGATE_API_KEY)),
    instanceId: readInstanceId(textOf(instance, env.WAYGATE_INSTANCE_ID)),
  };
}

/** The option, `WAYGATE_BASE_URL`, or this machine at `WAYGATE_PORT`: the settings of the gateway itself. Throws UsageError. */
export function readGatewayUrl(env: Env, option?: string, name = "--url or WAYGATE_BASE_URL"): string {
  const port = /^[1-9]\d{0,4}$/.exec(env.WAYGATE_PORT?.trim() ?? "")?.[0];
  const local = port === undefined ? USUAL_URL : `http://127.0.0.1:${port}`;
  return readHttpUrl(name, textOf(option, env.WAYGATE_BASE_URL) ?? local);
}

/** The option, or else the variable; an empty one counts as absent. */
export function textOf(option: string | undefined, variable?: string): string | undefined {
  return option?.trim() || variable?.trim() || undefined;
}

/** An http or https address, without the slash at its end. Throws UsageError. */
export function readHttpUrl(name: string, text: string): string {
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isHttp) throw new UsageError(`${name} must be an http:// or https:// address, such as ${USUAL_URL}.`);
  return text.replace(/(?<!\/)\/+$/, "");
}

/** A credential that fits into a header. Throws UsageError, which does not show the value. */
export function readHeaderText(name: string, text: string | undefined): string | undefined {
  if (text === undefined || /^[\x21-\x7e]{1,4096}$/.test(text)) return text;
  throw new UsageError(`${name} must have visible ASCII characters only.`);
}

function readInstanceId(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError("--instance or WAYGATE_INSTANCE_ID must be the number of an instance, such as 1.");
}
