import "./crm.css";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { Blank } from "../../components/blank.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { FormField } from "../../components/form-field.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { Notice } from "../../components/notice.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { showToast } from "../../components/toasts.tsx";
import { ContactsTabs } from "./contacts-tabs.tsx";
import { boardQuery, type Lead, labelsQuery, MOST_ON_BOARD } from "./crm-queries.ts";
import { LeadDialog } from "./lead-dialog.tsx";
import { LeadFilters } from "./lead-filter-fields.tsx";
import type { LeadFilter } from "./lead-filters.ts";
import { nameOf } from "./name-of.ts";
import { StageColumn } from "./stage-column.tsx";
import { readStages, saveStages } from "./stages.ts";

export function BoardPage() {
  const t = useTranslations("crm");
  const filter = useSearch({ from: "/shell/crm/board" });
  const navigate = useNavigate();
  const { data, error, isPending, refetch } = useQuery(boardQuery(filter));
  const board = useStages(data?.leads);
  const move = useMove(filter);
  return (
    <>
      <PageHead title={t("title")} lead={t("boardLead")}>
        <AddStage stages={board.stages} onAdd={board.add} />
        <LeadDialog kind="main" />
      </PageHead>
      <ContactsTabs />
      <LeadFilters
        withoutStage
        filter={filter}
        onChange={(search) => void navigate({ to: "/crm/board", search, replace: true })}
      />
      {error && <FaultNotice error={error} onRetry={() => void refetch()} />}
      <FaultNotice error={move.error} />
      {isPending && <LoadingState />}
      {data?.isCut && (
        <Notice tone="wait">
          <p>{t("boardCut", { max: MOST_ON_BOARD })}</p>
        </Notice>
      )}
      {data && board.stages.length === 0 && <FirstStages onChoose={board.add} />}
      {data && (
        <div className="board">
          {["", ...board.stages].map((stage) => (
            <StageColumn
              key={stage}
              stage={stage}
              stages={board.stages}
              leads={data.leads.filter(({ kanban_status }) => (kanban_status ?? "") === stage)}
              onMove={(lead, to) => move.mutate({ lead, to })}
              onFind={(id) => data.leads.find((lead) => lead.id === id)}
              onRemove={board.remove}
            />
          ))}
        </div>
      )}
    </>
  );
}

/** The stages in the order of this browser, then those that leads have besides. */
function useStages(leads: readonly Lead[] = []) {
  const labels = useQuery(labelsQuery);
  const [own, setOwn] = useState(readStages);
  const used = [
    ...(labels.data?.stages ?? []).map(({ name }) => name),
    ...leads.map((lead) => lead.kanban_status),
  ];
  const others = used.filter((name) => name !== null && !own.includes(name)).sort();
  const keep = (next: readonly string[]) => {
    saveStages(next);
    setOwn(next);
  };
  const stages = [...new Set([...own, ...others])].filter((name): name is string => name !== null);
  return {
    stages,
    add: (names: readonly string[]) => keep([...new Set([...stages, ...names])]),
    remove: (name: string) => keep(own.filter((one) => one !== name)),
  };
}

/** Moves a lead at once, and takes it back if the gateway refuses. */
function useMove(filter: LeadFilter) {
  const t = useTranslations("crm");
  const queries = useQueryClient();
  const { queryKey } = boardQuery(filter);
  const place = (lead: Lead, stage: string | null) =>
    queries.setQueryData(queryKey, (before) => {
      if (before === undefined) return before;
      const leads = before.leads.map((one) => (one.id === lead.id ? { ...one, kanban_status: stage } : one));
      return { ...before, leads };
    });
  const move = useMutation({
    mutationFn: async ({ lead, to }: { lead: Lead; to: string; isUndo?: boolean }) => {
      await queries.cancelQueries({ queryKey });
      place(lead, to === "" ? null : to);
      await gateway.updateLead({ id: lead.id, kanban_status: to === "" ? null : to });
    },
    onError: (_, { lead }) => place(lead, lead.kanban_status),
    onSuccess: (_, { lead, to, isUndo }) => {
      const text = t("moved", { name: nameOf(lead), stage: to === "" ? t("noStage") : to });
      const moved = { ...lead, kanban_status: to === "" ? null : to };
      const undo = () => move.mutate({ lead: moved, to: lead.kanban_status ?? "", isUndo: true });
      showToast(text, "go", isUndo ? undefined : undo);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["crm"] }),
  });
  return move;
}

function AddStage({ stages, onAdd }: { stages: readonly string[]; onAdd(names: readonly string[]): void }) {
  const t = useTranslations("crm");
  const [fault, setFault] = useState<Error | null>(null);
  const add = async ({ stage = "" }: Partial<Record<string, string>>) => {
    const name = stage.trim();
    if (stages.includes(name)) {
      setFault(new Error("known"));
      throw new Error("known");
    }
    onAdd([name]);
  };
  return (
    <FormDialog
      label={t("addStage")}
      title={t("addStage")}
      submitLabel={t("addStage")}
      mutation={{ isPending: false, error: null, reset: () => setFault(null) }}
      onSubmit={add}
    >
      <FormField name="stage" label={t("stageName")} hint={t("stageHint")} maxLength={64} />
      {fault !== null && <p className="fault">{t("stageKnown")}</p>}
    </FormDialog>
  );
}

const STARTERS = ["first", "talking", "offer", "won"] as const;

function FirstStages({ onChoose }: { onChoose(names: readonly string[]): void }) {
  const t = useTranslations("crm");
  const names = STARTERS.map((name) => t(`starter.${name}`));
  return (
    <Blank title={t("noStages")} help={t("noStagesHelp")}>
      <ActionButton kind="main" onPress={() => onChoose(names)}>
        {t("useStarters", { names: names.join(", ") })}
      </ActionButton>
    </Blank>
  );
}
