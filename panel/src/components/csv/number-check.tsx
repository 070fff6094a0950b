import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useFormatter, useLocale, useTranslations } from "use-intl";
import { createKey, gateway } from "../../gateway/gateway.ts";
import { ActionButton } from "../action-button.tsx";
import { ErrorNotice } from "../error-notice.tsx";
import { LoadingState } from "../page-header.tsx";
import { StatusDot } from "../status-dot.tsx";
import { useGatewayTexts } from "../use-gateway-texts.ts";
import { ProblemGroups, type ShownProblem } from "./problem-groups.tsx";
import type { CsvFile } from "./read-csv.ts";

type CheckedRecipients = Awaited<ReturnType<typeof gateway.checkRecipients>>["data"];

/** A line of a file without a phone number. */
export interface LocalProblem {
  line: number;
  value: string;
  problem: "missing" | CsvFile["broken"][number]["problem"];
}

/** A number of a file or of a contact. */
export interface CheckedNumber {
  /** Line of the file; undefined for a contact. */
  line?: number;
  lead?: number;
  phone: string;
}

export interface CheckOptions {
  purpose: "campaign" | "import";
  /** The purpose that recipients must have consented to; "" for none. */
  consent?: string;
  /** The sender. Its country is the default country of the numbers. */
  instance?: number | undefined;
  addsCountry: boolean;
}

interface NumberCheckProps {
  numbers: readonly CheckedNumber[];
  local: readonly LocalProblem[];
  how: CheckOptions;
  /** Undefined if every number has a country code. */
  onAddCountry?: () => void;
  onCorrect?: (line: number, phone: string) => void;
}

/** Shows what the gateway would do with these numbers. The gateway stores none of them. */
export function NumberCheck({ numbers, local, how, onAddCountry, onCorrect }: NumberCheckProps) {
  const t = useTranslations("csv");
  const { data, error, refetch } = useNumberCheck(numbers, how);
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const { checked } = data;
  return (
    <section className="stack" aria-label={t("checkTitle")}>
      <h2>{t("checkTitle")}</h2>
      <Summary checked={checked} numLocal={local.length} purpose={how.purpose} />
      {onAddCountry && <AddCountry checked={checked} onPress={onAddCountry} />}
      <Problems {...data} local={local} purpose={how.purpose} onCorrect={onCorrect} />
    </section>
  );
}

/** Adds the country code to every number without one. */
function AddCountry({ checked, onPress }: { checked: CheckedRecipients; onPress: () => void }) {
  const t = useTranslations("csv");
  const names = new Intl.DisplayNames(useLocale(), { type: "region" });
  const { assumed_country, counts, problems } = checked;
  const country = (assumed_country && names.of(assumed_country)) ?? "";
  const count = counts.assumed - problems.filter(isAmbiguous).length;
  if (count <= 0) return null;
  return (
    <div className="buttons">
      <ActionButton onPress={onPress}>{t("addCountry", { count, country })}</ActionButton>
    </div>
  );
}

/** Returns the checked numbers with the result, because a correction can move the lines below. */
function useNumberCheck(
  numbers: readonly CheckedNumber[],
  { consent = "", instance, addsCountry }: CheckOptions,
) {
  const [key, setKey] = useState({ numbers, consent, instance, addsCountry, id: createKey() });
  useEffect(
    () => setKey({ numbers, consent, instance, addsCountry, id: createKey() }),
    [numbers, consent, instance, addsCountry],
  );
  return useQuery({
    queryKey: ["numbers", "check", key.id],
    queryFn: async ({ signal }) => {
      const leads = key.numbers.flatMap(({ lead }) => (lead === undefined ? [] : [lead]));
      const phones = key.numbers.flatMap(({ lead, phone }) => (lead === undefined ? [phone] : []));
      const options = {
        ...(key.consent !== "" && { consent_purpose: key.consent }),
        ...(key.instance && { instance_id: key.instance }),
        confirm_assumed: key.addsCountry,
      };
      const { data } = await gateway.checkRecipients(
        { recipients: phones, lead_ids: leads, ...options },
        { signal },
      );
      return { checked: data, numbers: key.numbers };
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

const KINDS = {
  campaign: ["invalid", "assumed", "duplicate", "opted_out", "no_consent"],
  // A contact who has opted out is still a contact.
  import: ["invalid", "assumed", "duplicate"],
} as const;

interface SummaryProps {
  checked: CheckedRecipients;
  numLocal: number;
  purpose: CheckOptions["purpose"];
}

function Summary({ checked, numLocal, purpose }: SummaryProps) {
  const t = useTranslations("csv");
  const format = useFormatter();
  const { counts } = checked;
  const total = checked.total + numLocal;
  const shown = { ...counts, invalid: counts.invalid + numLocal };
  const ready = total - KINDS[purpose].reduce((sum, kind) => sum + shown[kind], 0);
  return (
    <div className="stack" aria-live="polite">
      <p className="check-sum">{t(purpose === "import" ? "checkSumImport" : "checkSum", { ready, total })}</p>
      <ul className="check-counts">
        <li data-tone="success">
          <StatusDot tone="success" />
          <strong>{format.number(ready)}</strong> {t("ready")}
        </li>
        {KINDS[purpose]
          .filter((kind) => shown[kind] > 0)
          .map((kind) => (
            <li key={kind} data-tone={kind === "duplicate" ? "neutral" : "info"}>
              <StatusDot tone={kind === "duplicate" ? "neutral" : "info"} />
              <strong>{format.number(shown[kind])}</strong> {t(`problem.${kind}`)}
            </li>
          ))}
      </ul>
    </div>
  );
}

interface ProblemsProps {
  checked: CheckedRecipients;
  numbers: readonly CheckedNumber[];
  local: readonly LocalProblem[];
  purpose: CheckOptions["purpose"];
  onCorrect: NumberCheckProps["onCorrect"];
}

function Problems({ onCorrect, ...found }: ProblemsProps) {
  const t = useTranslations("csv");
  const problems = useProblems(found);
  const { checked, local } = found;
  const isCut = problems.length < checked.total - checked.ready + local.length;
  if (problems.length === 0) return <p className="hint">{t("noProblems")}</p>;
  return (
    <>
      <ProblemGroups problems={problems} {...(onCorrect && { onCorrect })} />
      {isCut && checked.problems.length >= LISTED && <p className="hint">{t("atMost", { max: LISTED })}</p>}
    </>
  );
}

/** The gateway lists at most this many problems. */
const LISTED = 1_000;
const CORRECTABLE = new Set(["invalid", "assumed", "duplicate", "missing"]);

function useProblems({ checked, numbers, local, purpose }: Omit<ProblemsProps, "onCorrect">): ShownProblem[] {
  const t = useTranslations("csv");
  const textOf = useProblemText(purpose);
  const kinds: readonly string[] = KINDS[purpose];
  const ofLines = local.map(({ line, value, problem }) => ({
    key: `line ${line}`,
    line,
    value,
    text: t(`problemHelp.${problem}`),
    correction: CORRECTABLE.has(problem) ? "" : undefined,
  }));
  const ofNumbers = checked.problems
    .filter(({ problem }) => kinds.includes(problem))
    .map((found) => {
      const { line, phone } = numbers[found.index] ?? {};
      const value = phone || found.value;
      const typed = found.suggestion === null ? value : `+${found.suggestion}`;
      return {
        key: line === undefined ? `index ${found.index}` : `line ${line}`,
        line,
        value,
        text: textOf(found),
        correction: CORRECTABLE.has(found.problem) ? typed : undefined,
      };
    });
  return [...ofLines, ...ofNumbers];
}

type FoundProblem = CheckedRecipients["problems"][number];

/** Digits that are valid as two different numbers, or as none. */
function isAmbiguous({ code }: FoundProblem): boolean {
  return code?.startsWith("ambiguous") ?? false;
}

function useProblemText(purpose: CheckOptions["purpose"]) {
  const t = useTranslations("csv");
  const gatewayTexts = useGatewayTexts();
  return (found: FoundProblem) => {
    const { problem, reason, code, params } = found;
    if (isAmbiguous(found)) return t("problemHelp.ambiguous");
    if (problem === "duplicate" && purpose === "import") return t("problemHelp.duplicateRow");
    if (problem !== "invalid" || reason === null || code === null) return t(`problemHelp.${problem}`);
    const text = gatewayTexts.issue({ code, params, issue: reason }).replace(/\.$/, "");
    return t("invalidBecause", { reason: text });
  };
}
