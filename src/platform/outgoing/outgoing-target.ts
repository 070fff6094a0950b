import { isIP } from "node:net";
import type { AddressPolicy, NetworkTarget } from "./address-policy.ts";
import { BLOCKED_MESSAGE, type FetchFailureCode } from "./classify-fetch-failure.ts";

const MAX_URL = 2048;

/** A URL that may be dialled as far as it can be told without asking for its name. */
export interface OutgoingTarget extends NetworkTarget {
  url: URL;
  /** Whether the host is an address, so that no name stands between the check and the socket. */
  isLiteral: boolean;
  /** From the user name and password in the URL, which HTTP itself does not send. */
  authorization: string | undefined;
}

export interface TargetRejection {
  failure: Extract<FetchFailureCode, "invalid_url" | "blocked">;
  error: string;
}

export interface TargetRules {
  policy: AddressPolicy;
  httpsOnly: boolean;
  /** Names are resolved by a proxy, out of our sight. */
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
  // The URL parser drops tabs and line breaks, so that the text and what is dialled would differ.
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
