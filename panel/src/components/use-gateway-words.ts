import { useMemo } from "react";
import { useLocale, useMessages, useTranslations } from "use-intl";
import {
  type FaultCode,
  needsDetail,
  type ReadReason,
  readIssue,
  readSendReason,
  splitReason,
} from "../api/gateway-words.ts";
import type { Messages } from "../i18n/locales.ts";

interface Failure {
  code: string;
  message: string;
}

interface Told {
  sentence: string;
  /** The gateway's own words, where the sentence says less. */
  detail: string | undefined;
}

export interface GatewayWords {
  /** Why a field was refused. */
  issue(text: string): string;
  /** Why a row was refused; its text may begin with the name of a field. `lineOf` is the line of the reader's file. */
  reason(text: string, lineOf?: (line: number) => number): string;
  /** Any other sentence; as it is where the panel does not know it. */
  text(text: string): string;
  failure(failure: Failure): Told;
}

/** The gateway speaks English: its sentences in the language of the panel. */
export function useGatewayWords(): GatewayWords {
  const t = useTranslations("faults");
  const locale = useLocale();
  const { faults } = useMessages() as Messages;
  return useMemo(() => {
    const reason = (text: string, lineOf = (line: number) => line) => {
      const { field, issue } = splitReason(text);
      const found = readIssue(issue);
      if (!found) return t("issues.other", { text });
      const { kind, a, b } = found;
      const words = t(`issues.${kind}`, { a: kind === "twice" ? String(lineOf(Number(a))) : a, b });
      return field === undefined ? words : `${field}: ${words}`;
    };
    const recognise = (message: string): Told | undefined => {
      const known = readSendReason(message);
      if (known) return { sentence: whyNotSent(t, known), detail: known.cause };
      if (!readIssue(splitReason(message).issue)) return undefined;
      return { sentence: reason(message), detail: undefined };
    };
    const failure = ({ code, message }: Failure): Told => {
      const status = /^HTTP_(\d+)$/.exec(code)?.[1];
      if (status !== undefined) return { sentence: t("foreign", { status }), detail: undefined };
      if (locale === "en" || !(code in faults.codes)) return { sentence: message, detail: undefined };
      const known = recognise(message);
      if (known) return known;
      const sentence = t(`codes.${code as FaultCode}`);
      return { sentence, detail: needsDetail(code) ? message : undefined };
    };
    const text = (own: string) => (readIssue(own) ? reason(own) : own);
    return { issue: (own) => reason(own), reason, text, failure };
  }, [t, locale, faults]);
}

type Translate = ReturnType<typeof useTranslations<"faults">>;

/** The network's number is what the reader can search for. */
function whyNotSent(t: Translate, { kind, number, attempts }: ReadReason): string {
  const sentence = t(`reasons.${kind}`, { a: attempts });
  return number === undefined ? sentence : `${sentence} (${number})`;
}
