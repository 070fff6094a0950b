import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslations } from "use-intl";
import { type CheckOptions, NumberCheck } from "../../../components/csv/number-check.tsx";
import { ErrorNotice, Notice } from "../../../components/error-notice.tsx";
import { PickList } from "../../../components/fields/pick-list.tsx";
import { useContactStatus } from "../../../components/formats.tsx";
import { EmptyState, LoadingState } from "../../../components/page-header.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { type Lead, labelsQuery } from "../../crm/crm-queries.ts";
import type { PickedRecipient } from "./campaign-draft.ts";

interface LeadPickerProps {
  how: CheckOptions;
  onPick(recipients: readonly PickedRecipient[]): void;
}

interface Wanted {
  tag: string;
  stage: string;
  status: string;
}

const ALL: Wanted = { tag: "", stage: "", status: "" };
const MOST_LEADS = 10_000;
const NONE: readonly [] = [];

/** Picks recipients from the contacts by tag, stage and status. */
export function LeadPicker({ how, onPick }: LeadPickerProps) {
  const t = useTranslations("campaigns");
  const [wanted, setWanted] = useState(ALL);
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["crm", "picked", wanted],
    queryFn: ({ signal }) => readLeads(wanted, signal),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only other contacts are another choice
  useEffect(() => onPick(data?.recipients ?? NONE), [data]);
  return (
    <>
      <LeadFilters wanted={wanted} onChange={setWanted} />
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingState />}
      {data?.isCut && (
        <Notice tone="warning">
          <p>{t("leadsCut", { max: MOST_LEADS })}</p>
        </Notice>
      )}
      {data && data.recipients.length === 0 && <EmptyState title={t("noLeads")} help={t("noLeadsHelp")} />}
      {data && data.recipients.length > 0 && <NumberCheck numbers={data.recipients} local={NONE} how={how} />}
    </>
  );
}

function LeadFilters({ wanted, onChange }: { wanted: Wanted; onChange(wanted: Wanted): void }) {
  const t = useTranslations();
  const nameStatus = useContactStatus();
  const { data } = useQuery(labelsQuery);
  const optionsOf = (labels: readonly { name: string }[] = [], nameOf = (name: string) => name) => ({
    "": t("common.all"),
    ...Object.fromEntries(labels.map(({ name }) => [name, nameOf(name)])),
  });
  return (
    <div className="pickers">
      <PickList
        label={t("crm.tag")}
        value={wanted.tag}
        options={optionsOf(data?.tags)}
        onChange={(tag) => onChange({ ...wanted, tag })}
      />
      <PickList
        label={t("crm.stage")}
        value={wanted.stage}
        options={optionsOf(data?.stages)}
        onChange={(stage) => onChange({ ...wanted, stage })}
      />
      <PickList
        label={t("crm.status")}
        value={wanted.status}
        options={optionsOf(data?.statuses, nameStatus)}
        onChange={(status) => onChange({ ...wanted, status })}
      />
    </div>
  );
}

async function readLeads({ tag, stage, status }: Wanted, signal: AbortSignal) {
  const recipients: PickedRecipient[] = [];
  let cursor: string | null = "";
  while (cursor !== null && recipients.length < MOST_LEADS) {
    const page: Awaited<ReturnType<typeof gateway.listLeads>> = await gateway.listLeads(
      {
        limit: 200,
        ...(tag && { tag }),
        ...(stage && { kanban_status: stage }),
        ...(status && { status }),
        ...(cursor && { cursor }),
      },
      { signal },
    );
    recipients.push(...page.data.map(toRecipient));
    cursor = page.pagination.next_cursor;
  }
  return { recipients, isCut: cursor !== null };
}

function toRecipient({ id, phone, name, email, custom_fields }: Lead): PickedRecipient {
  const fields = Object.entries(custom_fields).map(([key, value]) => [key.toLowerCase(), String(value)]);
  const variables = { ...Object.fromEntries(fields), ...(name && { name }), ...(email && { email }) };
  return { lead: id, phone: phone ?? "", variables };
}
