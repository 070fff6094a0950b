import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useFormatter, useLocale, useTranslations } from "use-intl";
import { createKey, gateway } from "../../api/gateway.ts";
import { splitReason } from "../../api/gateway-words.ts";
import type { CsvFile } from "../../api/read-csv.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { Lamp } from "../../components/lamp.tsx";
import { ExportButton } from "../../components/list-export.tsx";
import { LoadingState } from "../../components/page-head.tsx";
import { useGatewayWords } from "../../components/use-gateway-words.ts";
import type { PickedRecipient } from "./campaign-draft.ts";
import type { CheckedRecipients } from "./campaigns-queries.ts";

/** A line of a file that names no recipient. */
export interface LocalProblem {
  line: number;
  value: string;
  problem: "missing" | CsvFile["broken"][number]["fault"];
}

interface ShownProblem {
  key: string;
  line: number | undefined;
  value: string;
  words: string;
}

/** What decides, beside the recipients, who gets the message. */
export interface CheckOptions {
  /** The purpose that recipients must have agreed to; "": none. */
  consent: string;
  /** The sender, whose country counts. */
  instance: number | undefined;
  addsCountry: boolean;
}

interface RecipientCheckProps {
  recipients: readonly PickedRecipient[];
  local: readonly LocalProblem[];
  how: CheckOptions;
  /** Undefined: every recipient has a country code. */
  onAddCountry?: () => void;
}

const SHOWN = 50;

/** What the gateway would do with these recipients. It stores none of them. */
export function RecipientCheck({ recipients, local, how, onAddCountry }: RecipientCheckProps) {
  const t = useTranslations("campaigns");
  const { data, error, isPending, refetch } = useRecipientCheck(recipients, how);
  if (error) return <FaultNotice error={error} onRetry={() => void refetch()} />;
  if (isPending) return <LoadingState />;
  return (
    <section className="stack" aria-label={t("checkTitle")}>
      <h2>{t("checkTitle")}</h2>
      <Summary checked={data} numLocal={local.length} />
      {data.counts.assumed > 0 && onAddCountry && <AddCountry checked={data} onPress={onAddCountry} />}
      <ProblemTable recipients={recipients} local={local} checked={data} />
    </section>
  );
}

/** One press corrects every number without a country code. */
function AddCountry({ checked, onPress }: { checked: CheckedRecipients; onPress: () => void }) {
  const t = useTranslations("campaigns");
  const names = new Intl.DisplayNames(useLocale(), { type: "region" });
  const { assumed_country, counts } = checked;
  const country = (assumed_country && names.of(assumed_country)) ?? "";
  return (
    <div className="buttons">
      <ActionButton onPress={onPress}>{t("addCountry", { count: counts.assumed, country })}</ActionButton>
    </div>
  );
}

function useRecipientCheck(
  recipients: readonly PickedRecipient[],
  { consent, instance, addsCountry }: CheckOptions,
) {
  const [key, setKey] = useState({ recipients, consent, instance, addsCountry, id: createKey() });
  useEffect(
    () => setKey({ recipients, consent, instance, addsCountry, id: createKey() }),
    [recipients, consent, instance, addsCountry],
  );
  return useQuery({
    queryKey: ["campaigns", "check", key.id],
    queryFn: async ({ signal }) => {
      const leads = key.recipients.flatMap(({ lead }) => (lead === undefined ? [] : [lead]));
      const phones = key.recipients.flatMap(({ lead, phone }) => (lead === undefined ? [phone] : []));
      const options = {
        ...(key.consent !== "" && { consent_purpose: key.consent }),
        ...(key.instance && { instance_id: key.instance }),
        confirm_assumed: key.addsCountry,
      };
      return (await gateway.checkRecipients({ recipients: phones, lead_ids: leads, ...options }, { signal }))
        .data;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

const KINDS = ["invalid", "assumed", "duplicate", "opted_out", "no_consent"] as const;

function Summary({ checked, numLocal }: { checked: CheckedRecipients; numLocal: number }) {
  const t = useTranslations("campaigns");
  const format = useFormatter();
  const { total, ready, counts } = checked;
  const shown = { ...counts, invalid: counts.invalid + numLocal };
  return (
    <div className="stack" aria-live="polite">
      <p className="check-sum">{t("checkSum", { ready, total: total + numLocal })}</p>
      <ul className="check-counts">
        <li data-tone="go">
          <Lamp tone="go" />
          <strong>{format.number(ready)}</strong> {t("ready")}
        </li>
        {KINDS.filter((kind) => shown[kind] > 0).map((kind) => (
          <li key={kind} data-tone={kind === "duplicate" ? "rest" : "note"}>
            <Lamp tone={kind === "duplicate" ? "rest" : "note"} />
            <strong>{format.number(shown[kind])}</strong> {t(`problem.${kind}`)}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ProblemTableProps {
  recipients: readonly PickedRecipient[];
  local: readonly LocalProblem[];
  checked: CheckedRecipients;
}

function ProblemTable({ recipients, local, checked }: ProblemTableProps) {
  const t = useTranslations("campaigns");
  const all = useProblems({ recipients, local, checked });
  const isFile = recipients.some(({ line }) => line !== undefined) || local.length > 0;
  const { counts } = checked;
  const total =
    counts.invalid + counts.assumed + counts.duplicate + counts.opted_out + counts.no_consent + local.length;
  if (all.length === 0) return <p className="hint">{t("noProblems")}</p>;
  const read = async () => ({
    columns: ["line", "value", "problem"],
    rows: all.map(({ line, value, words }) => [line ?? "", value, words]),
  });
  return (
    <>
      <div className="problem-frame">
        <table className="table problem-table">
          <thead>
            <tr>
              {isFile && <th scope="col">{t("problemLine")}</th>}
              <th scope="col">{t("problemValue")}</th>
              <th scope="col">{t("problemTitle")}</th>
            </tr>
          </thead>
          <tbody>
            {all.slice(0, SHOWN).map(({ key, line, value, words }) => (
              <tr key={key}>
                {isFile && <td>{line}</td>}
                <td className="code">{value}</td>
                <td>{words}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {total > SHOWN && (
        <p className="hint">{t("problemsShown", { shown: Math.min(SHOWN, all.length), total })}</p>
      )}
      <div className="buttons">
        <ExportButton name="problems" read={read} />
      </div>
    </>
  );
}

/** The problems in the order of the file, in words. */
function useProblems({ recipients, local, checked }: ProblemTableProps): ShownProblem[] {
  const t = useTranslations("campaigns");
  const gatewayWords = useGatewayWords();
  const found: ShownProblem[] = local.map(({ line, value, problem }) => {
    return { key: `line ${line}`, line, value, words: t(`problemHelp.${problem}`) };
  });
  for (const { index, value, problem, reason } of checked.problems) {
    const words =
      problem === "invalid" && reason
        ? t("invalidBecause", { reason: gatewayWords.reason(splitReason(reason).issue).replace(/\.$/, "") })
        : t(`problemHelp.${problem}`);
    found.push({ key: `index ${index}`, line: recipients[index]?.line, value, words });
  }
  return found.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
