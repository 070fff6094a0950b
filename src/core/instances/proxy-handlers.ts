import type { LookupFunction } from "node:net";
import { abortAfter } from "../../platform/abort-after.ts";
import type { Db } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import { createTestLimit } from "../../platform/http/limit-tests.ts";
import type { SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";
import { maskUrl } from "../../platform/urls/mask-url.ts";
import type { proxyContract } from "./contract.ts";
import { getInstance } from "./instance-row.ts";
import { requireAllowedProxyUrl, toPolicyUrl } from "./require-allowed-urls.ts";

export interface ProxyDeps {
  db: Db;
  box: SecretBox;
  outgoing: Pick<SafeFetch, "findBlockReason" | "lookup">;
  /** Resolves once the network has responded through the proxy; rejects with the reason. */
  reachNetwork(proxy: string, lookup: LookupFunction, signal: AbortSignal): Promise<void>;
}

/** The proxy of an instance: its masked address, and a test that leaves the session alone. */
export function proxyHandlers(deps: ProxyDeps, longestMs = 10_000): Handlers<typeof proxyContract> {
  const allow = createTestLimit("An instance");
  return {
    async getProxy({ input: { id } }) {
      const url = await readProxyUrl(deps, id);
      return { id, url: url === null ? null : maskUrl(url) };
    },

    async testProxy({ input: { id, url }, signal }) {
      const proxy = url ?? (await readProxyUrl(deps, id));
      if (proxy === null) throw invalidField("url", "is required: the instance has no proxy", "missing");
      allow(id);
      await requireAllowedProxyUrl(deps.outgoing, proxy, "url");
      return reach(deps, proxy, abortAfter(longestMs, signal));
    },
  };
}

async function readProxyUrl({ db, box }: ProxyDeps, id: number): Promise<string | null> {
  const { proxy } = await getInstance(db, id);
  return proxy && box.open(proxy, encryptionContextOf("instance", "proxy", id));
}

async function reach({ outgoing, reachNetwork }: ProxyDeps, proxy: string, signal: AbortSignal) {
  const began = performance.now();
  const result = (error: string | null) => ({
    reached: error === null,
    duration_ms: Math.round(performance.now() - began),
    error,
  });
  try {
    await reachNetwork(proxy, outgoing.lookup(toPolicyUrl(proxy)), signal);
    return result(null);
  } catch (error) {
    return result(signal.aborted ? "WhatsApp did not respond through the proxy in time." : describe(error));
  }
}

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^(ENOTFOUND|EAI_\w+|ENODATA)$/, "The host name of the proxy could not be resolved."],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$/, "The connection to the proxy was refused."],
  [
    /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/,
    "The connection was closed before WhatsApp responded.",
  ],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT)$/, "The proxy did not respond in time."],
  [
    /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|EPROTO$)/,
    "No secure connection could be established.",
  ],
];

function describe(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const [, status] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (status === "407" || /authentication failed/i.test(message))
    return "The proxy refuses the user name or the password.";
  if (status !== undefined) return `The proxy refuses connections to WhatsApp (status ${status}).`;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return WORDS.find(([pattern]) => pattern.test(code))?.[1] ?? "The proxy does not respond as a proxy does.";
}
