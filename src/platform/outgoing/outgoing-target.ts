import { isIP } from "node:net";
import type { AddressPolicy, NetworkTarget } from "./address-policy.ts";
import { BLOCKED_MESSAGE, type FetchFailureCode } from "./classify-fetch-failure.ts";

const MAX_URL = 2048;

/** A URL that passed every check that needs no DNS lookup. */
export interface OutgoingTarget extends NetworkTarget {
  url: URL;
  /** Whether the host is an address, so that no DNS lookup is needed. */
  isLiteral: boolean;
  /** From the user name and password in the URL, which the HTTP client does not send itself. */
  authorization: string | undefined;
}

export interface TargetRejection {
  failure: Extract<FetchFailureCode, "invalid_url" | "blocked">;
  error: string;
}

export interface TargetRules {
  policy: AddressPolicy;
  httpsOnly: boolean;
  /** A proxy resolves the names. */
  isProxied: boolean;
}

export function parseOutgoingTarget(text: string, rules: TargetRules): OutgoingTarget | TargetRejection {
  const invalid = invalidity(text, rules.httpsOnly);
  if (invalid !== undefined) {
    return { failure: "invalid_url", error: invalid };
  }
  const url = new URL(text);
  const host = url.hostname;
  const isLiteral = isIP(host.replace(/^\[|\]$/g, "")) !== 0;
  const target: OutgoingTarget = {
    url,
    host,
    port: url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port),
    isLiteral,
    authorization: basicAuthorization(url),
  };
  const isAllowed = isLiteral
    ? rules.policy.allows(target, host)
    : !rules.isProxied || rules.policy.allowsUnresolved(target);
  return isAllowed ? target : { failure: "blocked", error: BLOCKED_MESSAGE };
}

function invalidity(text: string, httpsOnly: boolean): string | undefined {
  if (text.length > MAX_URL) {
    return `The URL is longer than ${MAX_URL} characters.`;
  }
  // The URL parser drops tabs and line breaks, so the text would differ from the actual target.
  if (/[\p{Cc}\p{Cs}]/u.test(text) || !URL.canParse(text)) {
    return "This is not a valid URL.";
  }
  const { protocol } = new URL(text);
  if (protocol !== "https:" && (protocol !== "http:" || httpsOnly)) {
    return httpsOnly ? "The URL must begin with https://." : "The URL must begin with http:// or https://.";
  }
  return undefined;
}

function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === "" && password === "") {
    return undefined;
  }
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
