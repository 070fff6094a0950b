import "./crm.css";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { EmptyState, LoadingState, PageHeader } from "../../components/page-header.tsx";
import { boardRovingTabIndex } from "../../components/roving-tab-index.ts";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { accountQuery } from "../../gateway/queries.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { ContactsTabs } from "./contacts-tabs.tsx";
import { boardQuery, type Lead, labelsQuery, MOST_ON_BOARD } from "./crm-queries.ts";
import { nameOf } from "./lead-badges.tsx";
import { LeadDialog } from "./lead-dialog.tsx";
import { LeadFilters } from "./lead-filter-fields.tsx";
import type { LeadFilter } from "./lead-filters.ts";
import { StageColumn } from "./stage-column.tsx";

export function BoardPage() {
  const t = useTranslations("crm");
  const filter = useSearch({ from: "/shell/crm/board" });
  const navigate = useNavigate();
  const { data, error, isPending, refetch } = useQuery(boardQuery(filter));
  const board = useStages(data?.leads);
  const move = useMove(filter);
  const mayManage = useAccess().may("admin");
  return (
    <>
      <PageHeader title={t("title")} lead={t("boardLead")}>
        {mayManage && <AddStage board={board} />}
        <LeadDialog kind="primary" />
      </PageHeader>
      <ContactsTabs />
      <LeadFilters
        withoutStage
        filter={filter}
        onChange={(search) => void navigate({ to: "/crm/board", search, replace: true })}
      />
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <ErrorNotice error={move.error ?? board.change.error} />
      {isPending && <LoadingState />}
      {data?.isCut && (
        <Notice tone="warning">
          <p>{t("boardCut", { max: MOST_ON_BOARD })}</p>
        </Notice>
      )}
      {data && !board.isPending && board.stages.length === 0 && (
        <FirstStages mayManage={mayManage} board={board} />
      )}
      {data && (
        <div ref={boardRovingTabIndex} className="board">
          {columnsOf(board.stages, data.leads).map((stage) => (
            <StageColumn
              key={stage}
              stage={stage}
              stages={board.stages}
              leads={data.leads.filter(({ kanban_status }) => (kanban_status ?? "") === stage)}
              onMove={(lead, to) => move.mutate({ lead, to })}
              onFind={(id) => data.leads.find((lead) => lead.id === id)}
              onRemove={mayManage ? board.remove : undefined}
              onShift={mayManage ? board.shift : undefined}
            />
          ))}
        </div>
      )}
    </>
  );
}

/** Leads without a stage form the first column, or the last one while there are none. */
function columnsOf(stages: readonly string[], leads: readonly Lead[]): string[] {
  return leads.some(({ kanban_status }) => !kanban_status) ? ["", ...stages] : [...stages, ""];
}

/** Moves a lead optimistically and reverts it if the gateway refuses. */
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
      showToast(text, "success", isUndo ? undefined : undo);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["crm"] }),
  });
  return move;
}

type Board = ReturnType<typeof useStages>;

function AddStage({ board }: { board: Board }) {
  const { stages, change } = board;
  const t = useTranslations("crm");
  const [isKnown, setKnown] = useState(false);
  const reset = () => {
    setKnown(false);
    change.reset();
  };
  const add = async ({ stage = "" }: Partial<Record<string, string>>) => {
    const name = stage.trim();
    setKnown(stages.includes(name));
    if (stages.includes(name)) throw new Error("known");
    await change.mutateAsync(board.adding([name]));
  };
  return (
    <FormDialog
      label={t("addStage")}
      title={t("addStage")}
      submitLabel={t("addStage")}
      mutation={{ isPending: change.isPending, error: change.error, reset }}
      onSubmit={add}
    >
      <FormField name="stage" label={t("stageName")} hint={t("stageHint")} maxLength={64} />
      {isKnown && <p className="field-error">{t("stageKnown")}</p>}
    </FormDialog>
  );
}

const STARTERS = ["first", "talking", "offer", "won"] as const;

function FirstStages({ mayManage, board }: { mayManage: boolean; board: Board }) {
  const { change } = board;
  const t = useTranslations("crm");
  const names = STARTERS.map((name) => t(`starter.${name}`));
  return (
    <EmptyState title={t("noStages")} help={t("noStagesHelp")}>
      {mayManage && (
        <ActionButton
          kind="primary"
          isPending={change.isPending}
          onPress={() => change.mutate(board.adding(names))}
        >
          {t("useStarters", { names: names.join(", ") })}
        </ActionButton>
      )}
    </EmptyState>
  );
}

/** A change instead of the whole list, because another user may change the stages at the same time. */
interface StageChange {
  add_lead_stages?: string[];
  remove_lead_stages?: string[];
}

/** The account's stages in order, then stages that only leads have. */
function useStages(leads: readonly Lead[] = []) {
  const queries = useQueryClient();
  const account = useQuery(accountQuery);
  const labels = useQuery(labelsQuery);
  const own = account.data?.settings.lead_stages ?? [];
  const used = [
    ...(labels.data?.stages ?? []).map(({ name }) => name),
    ...leads.map(({ kanban_status }) => kanban_status),
  ].filter((name) => name !== null);
  const change = useMutation({
    mutationFn: (stages: StageChange) => gateway.updateAccount(stages),
    onSuccess: ({ data }) => queries.setQueryData(accountQuery.queryKey, data),
  });
  const seen = useSeen(used);
  const stages = [...new Set([...own, ...seen])];
  return {
    stages,
    isPending: account.isPending,
    change,
    /** Includes stages that only leads have, so that they keep their place before the new one. */
    adding: (names: readonly string[]): StageChange => ({
      add_lead_stages: [...stages, ...names].filter((name) => !own.includes(name)),
    }),
    /** Moves a stage by one place and keeps stages that another user added meanwhile. */
    shift: (name: string, by: -1 | 1) => {
      const to = stages.indexOf(name) + by;
      const order = stages.filter((one) => one !== name);
      order.splice(to, 0, name);
      const moved = order.slice(Math.min(to, to - by));
      change.mutate({
        remove_lead_stages: moved,
        add_lead_stages: order.filter((one) => !own.includes(one) || moved.includes(one)),
      });
    },
    remove: (name: string) => {
      seen.delete(name);
      change.mutate({ remove_lead_stages: [name] });
    },
  };
}

/** Keeps an emptied stage on the board, so that a lead can move back. */
function useSeen(names: readonly string[]): Set<string> {
  const seen = useRef(new Set<string>());
  for (const name of [...names].sort()) seen.current.add(name);
  return seen.current;
}
