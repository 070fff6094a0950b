import { UndecodableBodyError } from "./decode-response-body.ts";
import { DnsResolutionError } from "./dns-resolver.ts";

export const FETCH_FAILURES = [
  "blocked",
  "dns",
  "refused",
  "reset",
  "tls",
  "timeout_connect",
  "timeout_total",
  "invalid_url",
  "protocol",
] as const;

/** Why a request got no response. */
export type FetchFailureCode = (typeof FETCH_FAILURES)[number];

/** The address policy blocked the target. Does not reveal the resolved address. */
export class BlockedTargetError extends Error {
  override readonly name = "BlockedTargetError";

  constructor() {
    super("the address is not allowed");
  }
}

/** No connection in time, including DNS and TLS. */
export class ConnectTimeoutError extends Error {
  override readonly name = "ConnectTimeoutError";

  constructor() {
    super("no connection in time");
  }
}

/** The total time of the request is over. */
export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
}

/** The gateway closed its connections. */
export class ClosedError extends Error {
  override readonly name = "ClosedError";
}

/** One text for every blocked request, so that it reveals nothing about the internal network. */
export const BLOCKED_MESSAGE =
  "This address is not allowed by the gateway's policy for outgoing requests. Its operator can open private addresses and ports with WAYGATE_ALLOWED_HOSTS, and localhost with WAYGATE_LOCAL_TARGETS; link-local addresses, metadata services of clouds and ports of the gateway itself stay refused.";

const TEXT: Readonly<Record<Exclude<FetchFailureCode, "invalid_url">, string>> = {
  blocked: BLOCKED_MESSAGE,
  dns: "The host name could not be resolved.",
  refused: "The connection was refused.",
  reset: "The connection was closed before the response.",
  tls: "No secure connection could be established.",
  timeout_connect: "No connection within the time limit.",
  timeout_total: "No response within the time limit.",
  protocol: "The request or its response is not valid HTTP.",
};

const BY_CODE: readonly [RegExp, keyof typeof TEXT][] = [
  [/^(ENOTFOUND|EAI_\w+|ENODATA)$/, "dns"],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|EADDRNOTAVAIL|EACCES|EPERM|EINVAL)$/, "refused"],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/, "reset"],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "timeout_connect"],
  [/^(UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/, "timeout_total"],
  [/^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|EPROTO$|UND_ERR_PRX_TLS$)/, "tls"],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)$/,
    "tls",
  ],
];

/** This process lacks a resource or is closing; the receiver is not at fault. */
const OURS = /^(UND_ERR_DESTROYED|UND_ERR_CLOSED|EMFILE|ENFILE|ENOMEM|ENOBUFS)$/;

/** Classifies a failed request by the receiver's fault; rethrows the error if the gateway is at fault. */
export function classifyFetchFailure(error: unknown): { failure: FetchFailureCode; error: string } {
  const code = codeOf(error);
  if (error instanceof ClosedError || OURS.test(code ?? "")) {
    throw error;
  }
  if (error instanceof UndecodableBodyError) return { failure: "protocol", error: error.message };
  const failure = classify(error, code ?? "");
  const isShown = failure !== "blocked" && code !== undefined;
  return { failure, error: isShown ? `${TEXT[failure]} (${code})` : TEXT[failure] };
}

function classify(error: unknown, code: string): keyof typeof TEXT {
  if (error instanceof BlockedTargetError) {
    return "blocked";
  }
  if (error instanceof DnsResolutionError) {
    return "dns";
  }
  if (error instanceof ConnectTimeoutError) {
    return "timeout_connect";
  }
  if (error instanceof DeadlineError) {
    return "timeout_total";
  }
  // A malformed response can even fail an assertion in the HTTP client, so every other error counts as the
  // receiver's.
  return classifyProxy(error) ?? BY_CODE.find(([pattern]) => pattern.test(code))?.[1] ?? "protocol";
}

// undici reports a proxy's refusal of a tunnel only in the message.
function classifyProxy(error: unknown): "blocked" | "refused" | undefined {
  const [, status] = (error instanceof Error && /^Proxy response \((\d+)\)/.exec(error.message)) || [];
  return status === undefined ? undefined : status === "403" || status === "407" ? "blocked" : "refused";
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
