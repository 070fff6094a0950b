import type { Messages } from "../i18n/locales.ts";

type Faults = Messages["faults"];
export type FaultCode = keyof Faults["codes"];
export type IssueKind = Exclude<keyof Faults["issues"], "other">;

/** A sentence of the gateway, recognised: its kind, and the values in it. */
export interface Issue {
  kind: IssueKind;
  a: string;
  b: string;
}

/** The gateway's English sentences, without a full stop. The first match counts. */
const KINDS: readonly (readonly [pattern: RegExp, kind: IssueKind])[] = [
  [/^may contain only digits, spaces and \+ \( \) -/, "signs"],
  [/^must have (\d+) to (\d+) digits/, "digits"],
  [/^has no country code/, "country"],
  [/^names the same lead as line (\d+)$/, "twice"],
  [/^must be (?:a time in ISO 8601|a moment such as)/, "moment"],
  [/^must be a date such as/, "date"],
  [/^the file is empty$/, "emptyFile"],
  [/^(?:is empty|must not be empty)$/, "empty"],
  [/^is required(?:$|[:,])/, "required"],
  [/^is longer than (\d+) characters$/, "long"],
  [/^must have at least (\d+) characters$/, "short"],
  [/^must be a whole number from (-?[\d.]+) to (-?[\d.]+)(?: or null)?$/, "wholeRange"],
  [/^must be a whole number of at least (-?[\d.]+)(?: or null)?$/, "wholeLeast"],
  [/^must be a whole number(?: or null)?$/, "whole"],
  [/^must be (?:a number from|between) (-?[\d.]+) (?:to|and) (-?[\d.]+)(?: or null)?$/, "range"],
  [/^must be a number of at least (-?[\d.]+)(?: or null)?$/, "least"],
  [/^must be a number(?: or null)?$/, "number"],
  [/^must be a URL$/, "url"],
  [/^must be an e-mail address$/, "email"],
  [/^must be true or false$/, "flag"],
  [/^must be one of (.+)$/, "oneOf"],
  [/^must have at most (\d+) entries$/, "entriesMost"],
  [/^has (\d+) cells, the first line has (\d+)$/, "cells"],
  [/^is not a line of CSV/, "quotes"],
  [/^must be the id of a lead$/, "contactId"],
  [/^has the wrong format$/, "format"],
  [/^is not valid$/, "invalid"],
  [/^The receiver responded with (\d+)$/, "receiver"],
  [/^No delivery has succeeded for (\d+) days$/, "silent"],
  [/^n8n was starting/, "starting"],
];

/** undefined: a sentence that the panel does not know. */
export function readIssue(text: string): Issue | undefined {
  const plain = text.replace(/\.$/, "");
  for (const [pattern, kind] of KINDS) {
    const found = pattern.exec(plain);
    if (found) return { kind, a: found[1] ?? "", b: found[2] ?? "" };
  }
  return undefined;
}

/** A reason such as `phone: is required`, in its field and its issue. */
export function splitReason(text: string): { field: string | undefined; issue: string } {
  const [, field, issue = text] = /^([a-z_]+(?:\.[^:]{1,100})?): (.*)$/s.exec(text) ?? [];
  return { field, issue };
}

/** Codes whose general sentence leaves open what exactly is wrong; the gateway's own words name it. */
const OPEN = new Set<string>([
  "VALIDATION_ERROR",
  "FORBIDDEN",
  "QUOTA_EXCEEDED",
  "CONFLICT",
  "CAMPAIGN_STATE",
  "NOT_SUPPORTED",
  "SEND_FAILED",
  "CONNECT_FAILED",
  "MEDIA_DOWNLOAD_FAILED",
] satisfies FaultCode[]);

export function needsDetail(code: string): boolean {
  return OPEN.has(code);
}
