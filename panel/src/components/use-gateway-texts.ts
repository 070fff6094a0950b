import { useMemo } from "react";
import { useLocale, useMessages, useTranslations } from "use-intl";
import type { Messages } from "../i18n/locales.ts";

type ErrorTexts = Messages["errors"];
type Params = Readonly<Record<string, string | number>>;

/** Why the gateway rejected a field or a row. */
export interface Refusal {
  code: string;
  params: Params;
  issue: string;
}

interface Failure {
  code: string;
  message: string;
  /** Of a failed message. */
  reason?: string;
  params?: Params;
  /** Of a failed request. */
  details?: Readonly<Record<string, unknown>> | undefined;
}

interface Explanation {
  sentence: string;
  /** The gateway's own message, if the sentence is less specific. */
  detail: string | undefined;
}

export interface GatewayTexts {
  issue(refusal: Refusal): string;
  failure(failure: Failure): Explanation;
}

/** Issue codes that do not say what exactly is wrong. The gateway's message is shown with them. */
const OPEN_ISSUES = new Set<string>([
  "unknown_field",
  "not_supported",
  "not_allowed_here",
  "wrong_format",
  "not_found",
  "is_your_own",
  "refused_by_other",
  "unreadable_file",
  "not_a_table",
  "no_phone_column",
  "invalid",
] satisfies (keyof ErrorTexts["issues"])[]);

/** Error codes of the same kind. */
const OPEN_CODES = new Set<string>([
  "VALIDATION_ERROR",
  "FORBIDDEN",
  "QUOTA_EXCEEDED",
  "CONFLICT",
  "CAMPAIGN_STATE",
  "NOT_SUPPORTED",
  "SEND_FAILED",
  "CONNECT_FAILED",
  "MEDIA_DOWNLOAD_FAILED",
] satisfies (keyof ErrorTexts["codes"])[]);

/** Translates the gateway's codes. An English panel shows the gateway's messages themselves. */
export function useGatewayTexts(): GatewayTexts {
  const t = useTranslations("errors");
  const isEnglish = useLocale() === "en";
  const { errors } = useMessages() as Messages;
  return useMemo(() => {
    const translate = createTranslate(t);
    const issue = ({ code, params, issue: own }: Refusal) => {
      // The panel knows the line in the user's file, so it replaces the gateway's sentence in English too.
      if (!(code in errors.issues) || (isEnglish && code !== "duplicate_line")) return own;
      const text = translate(`issues.${code}`, { ...params, ...translateTypes(params, errors.types) });
      return OPEN_ISSUES.has(code) ? `${text} (${own})` : text;
    };
    const explain = (failed: Failure): Explanation => {
      const { reason, params = {} } = reasonOf(failed);
      if (reason !== undefined && reason in errors.reasons) {
        const sentence = `${translate(`reasons.${reason}`, params)}${inBrackets(params.number)}`;
        return { sentence, detail: reason === "undelivered" ? failed.message : undefined };
      }
      const [field] = refusalsOf(failed.details);
      if (field) return { sentence: `${field.field}: ${issue(field)}`, detail: undefined };
      const detail = OPEN_CODES.has(failed.code) ? failed.message : undefined;
      return { sentence: translate(`codes.${failed.code}`, {}), detail };
    };
    const failure = (failed: Failure): Explanation => {
      const status = /^HTTP_(\d+)$/.exec(failed.code)?.[1];
      if (status !== undefined) return { sentence: t("foreign", { status }), detail: undefined };
      const isShown = isEnglish || !(failed.code in errors.codes);
      return isShown ? { sentence: failed.message, detail: undefined } : explain(failed);
    };
    return { issue, failure };
  }, [t, isEnglish, errors]);
}

/** Users search for the network's error number. */
function inBrackets(number: string | number | undefined): string {
  return number === undefined ? "" : ` (${number})`;
}

/** The key is a code of the gateway, which the types cannot know. */
function createTranslate(t: ReturnType<typeof useTranslations<"errors">>) {
  return t as unknown as (key: string, params: Params) => string;
}

function translateTypes({ expected }: Params, types: Readonly<Record<string, string>>): Params {
  if (expected === undefined) return {};
  const names = String(expected).split(", ");
  return { expected: names.map((name) => types[name] ?? name).join(" / ") };
}

/** The reason of a message, also of one inside a failed request. */
function reasonOf({ reason, params, details }: Failure): { reason?: string; params?: Params } {
  if (reason !== undefined) return { reason, ...(params && { params }) };
  return (details?.error ?? {}) as { reason?: string; params?: Params };
}

export function refusalsOf(details: Failure["details"]): readonly (Refusal & { field: string })[] {
  return Array.isArray(details?.fields) ? details.fields : [];
}
