import { Link } from "@tanstack/react-router";
import { useState } from "react";
import {
  Button,
  type DropItem,
  GridList,
  GridListItem,
  isTextDropItem,
  useDragAndDrop,
} from "react-aria-components";
import { useFormatter, useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { formatPhone, visibleName } from "../../components/formats.tsx";
import type { Lead } from "./crm-queries.ts";
import { nameOf, OptOutPill, TagList } from "./lead-badges.tsx";

const DRAGGED = "application/x-waygate-lead";
const SHOWN_AT_ONCE = 50;

interface StageColumnProps {
  /** "" for leads without a stage. */
  stage: string;
  stages: readonly string[];
  leads: readonly Lead[];
  onMove(lead: Lead, stage: string): void;
  onFind(id: number): Lead | undefined;
  /** Undefined if this user may not change stages. */
  onRemove: ((stage: string) => void) | undefined;
  onShift: ((stage: string, by: -1 | 1) => void) | undefined;
}

/** A stage with its leads, which can be dragged by mouse and keyboard, or moved with a list. */
export function StageColumn({ stage, stages, leads, onMove, onFind, onRemove, onShift }: StageColumnProps) {
  const t = useTranslations("crm");
  const format = useFormatter();
  const [numShown, setNumShown] = useState(SHOWN_AT_ONCE);
  const title = stage === "" ? t("noStage") : stage;
  const take = async (items: readonly DropItem[]) => {
    for (const item of items) {
      if (!isTextDropItem(item) || !item.types.has(DRAGGED)) continue;
      const lead = onFind(Number(await item.getText(DRAGGED)));
      if (lead !== undefined && (lead.kanban_status ?? "") !== stage) onMove(lead, stage);
    }
  };
  const { dragAndDropHooks } = useDragAndDrop<Lead>({
    getItems: (keys) =>
      [...keys].map((key) => {
        const lead = onFind(Number(key));
        return { [DRAGGED]: String(key), "text/plain": lead ? nameOf(lead) : "" };
      }),
    acceptedDragTypes: [DRAGGED],
    getDropOperation: () => "move",
    onRootDrop: ({ items }) => void take(items),
    onInsert: ({ items }) => void take(items),
  });
  return (
    <section className="board-stage" aria-label={title}>
      <div className="board-stage-head">
        <h2>{title}</h2>
        <span className="hint">{format.number(leads.length)}</span>
        {stage !== "" && onShift && <ShiftButtons stage={stage} stages={stages} onShift={onShift} />}
      </div>
      <GridList
        aria-label={t("stageOf", { stage: title })}
        className="lead-cards"
        items={leads.slice(0, numShown)}
        dragAndDropHooks={dragAndDropHooks}
        keyboardNavigationBehavior="tab"
        dependencies={[stages]}
        renderEmptyState={() => <p className="hint">{t("emptyStage")}</p>}
      >
        {(lead) => <LeadCard lead={lead} stages={stages} onMove={onMove} />}
      </GridList>
      {leads.length > numShown && (
        <ActionButton onPress={() => setNumShown(numShown + SHOWN_AT_ONCE)}>
          {t("showMoreCards")}
        </ActionButton>
      )}
      {leads.length === 0 && stage !== "" && onRemove && (
        <ActionButton
          kind="link"
          aria-label={`${t("removeStage")}: ${stage}`}
          onPress={() => onRemove(stage)}
        >
          {t("removeStage")}
        </ActionButton>
      )}
    </section>
  );
}

interface ShiftButtonsProps {
  stage: string;
  stages: readonly string[];
  onShift(stage: string, by: -1 | 1): void;
}

function ShiftButtons({ stage, stages, onShift }: ShiftButtonsProps) {
  const t = useTranslations("crm");
  const at = stages.indexOf(stage);
  return (
    <span className="board-shift">
      <ActionButton
        kind="link"
        aria-label={t("stageLeft", { stage })}
        isDisabled={at === 0}
        onPress={() => onShift(stage, -1)}
      >
        ←
      </ActionButton>
      <ActionButton
        kind="link"
        aria-label={t("stageRight", { stage })}
        isDisabled={at === stages.length - 1}
        onPress={() => onShift(stage, 1)}
      >
        →
      </ActionButton>
    </span>
  );
}

interface LeadCardProps {
  lead: Lead;
  stages: readonly string[];
  onMove(lead: Lead, stage: string): void;
}

function LeadCard({ lead, stages, onMove }: LeadCardProps) {
  const t = useTranslations("crm");
  const name = nameOf(lead);
  const stage = lead.kanban_status ?? "";
  return (
    <GridListItem id={lead.id} textValue={name} className="lead-card">
      <div className="lead-card-head">
        <Button slot="drag" className="lead-grip" aria-label={t("drag", { name })}>
          <svg width="14" height="18" viewBox="0 0 14 18" aria-hidden="true">
            <path
              d="M3 3h.01M11 3h.01M3 9h.01M11 9h.01M3 15h.01M11 15h.01"
              stroke="currentColor"
              strokeWidth="3.4"
              strokeLinecap="round"
            />
          </svg>
        </Button>
        <div>
          <Link to="/crm/$id" params={{ id: lead.id }} draggable={false}>
            {name}
          </Link>
          {visibleName(lead.name) && lead.phone !== null && <p className="hint">{formatPhone(lead.phone)}</p>}
        </div>
      </div>
      <OptOutPill lead={lead} />
      <TagList tags={lead.tags} />
      <select
        className="select lead-move"
        aria-label={t("moveTo", { name })}
        value={stage}
        onChange={(event) => onMove(lead, event.target.value)}
      >
        {["", ...stages].map((one) => (
          <option key={one} value={one}>
            {one === "" ? t("noStage") : one}
          </option>
        ))}
      </select>
    </GridListItem>
  );
}
