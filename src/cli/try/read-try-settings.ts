import type { Env } from "../../platform/config/config.ts";
import { UsageError } from "../command-error.ts";
import {
  type ListenAddressTexts,
  type ListenerAddress,
  readListenerAddress,
} from "../listen/read-listen-settings.ts";
import { readGatewayUrl, readHeaderText, textOf } from "../read-client-settings.ts";

/** The options of `waygate try`, as typed. */
export interface TryOptionTexts extends ListenAddressTexts {
  url?: string;
  email?: string;
  password?: string;
  token?: string;
  keep?: boolean;
}

/** How the command signs in. */
export type TrySignIn = { token: string } | { email: string; password: string };

export interface TrySettings {
  listener: ListenerAddress;
  /** A gateway that runs; absent: the command starts one on temporary data. */
  gateway?: { baseUrl: string; signIn: TrySignIn };
  keep: boolean;
}

/** As the first start names the owner. */
const USUAL_EMAIL = "owner@localhost";

/** Throws UsageError. */
export function readTrySettings(env: Env, texts: TryOptionTexts): TrySettings {
  const keep = texts.keep ?? false;
  const listener = readListenerAddress(texts);
  const signIn = readSignIn(env, texts);
  // WAYGATE_BASE_URL may only be the setting of a gateway that is served here.
  if (textOf(texts.url) === undefined && signIn === undefined) return { listener, keep };
  if (signIn === undefined)
    throw new UsageError(
      "Sign in to this gateway: --email and --password (or WAYGATE_EMAIL and WAYGATE_PASSWORD), or --token (WAYGATE_TOKEN).",
    );
  return { listener, gateway: { baseUrl: readGatewayUrl(env, texts.url), signIn }, keep };
}

function readSignIn(env: Env, { email, password, token }: TryOptionTexts): TrySignIn | undefined {
  const known = readHeaderText("--token or WAYGATE_TOKEN", textOf(token, env.WAYGATE_TOKEN));
  // A password may begin or end with a space.
  const secret = password || env.WAYGATE_PASSWORD || undefined;
  const isTyped = email !== undefined || password !== undefined;
  if (known !== undefined && !(isTyped && token === undefined)) return { token: known };
  if (secret === undefined) {
    if (email !== undefined) throw new UsageError("Give --password or WAYGATE_PASSWORD too.");
    return undefined;
  }
  return { email: textOf(email, env.WAYGATE_EMAIL) ?? USUAL_EMAIL, password: secret };
}
