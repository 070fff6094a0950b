import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { FileTrigger } from "react-aria-components";
import { useTranslations } from "use-intl";
import {
  createRenderer,
  invalidPlaceholdersOf,
  valuesOf,
  variablesOf,
} from "../../../../../src/platform/text/render-template.ts";
import { ActionButton, LinkButton } from "../../../components/action-button.tsx";
import { Notice } from "../../../components/error-notice.tsx";
import { type Option, PickList } from "../../../components/fields/pick-list.tsx";
import { ValueField } from "../../../components/fields/value-field.tsx";
import { formatPhone } from "../../../components/formats.tsx";
import { senderQuery } from "../campaigns-queries.ts";
import type { CampaignDraft, DraftErrors, PickedRecipient } from "./campaign-draft.ts";

interface MessageStepProps {
  draft: CampaignDraft;
  errors: DraftErrors;
  recipients: readonly PickedRecipient[];
  onChange(part: Partial<CampaignDraft>): void;
}

export function MessageStep({ draft, errors, recipients, onChange }: MessageStepProps) {
  const t = useTranslations("campaigns");
  const error = (name: keyof CampaignDraft) => errors[name] && t(`errors.${errors[name]}`);
  const area = useRef<HTMLTextAreaElement>(null);
  const insert = (name: string) => {
    const text = `{{${name}}}`;
    const { selectionStart: from, selectionEnd: to } = area.current ?? {
      selectionStart: draft.template.length,
      selectionEnd: draft.template.length,
    };
    onChange({ template: draft.template.slice(0, from) + text + draft.template.slice(to) });
    area.current?.focus();
  };
  return (
    <div className="columns gapped">
      <section className="card" aria-label={t("steps.message")}>
        <ValueField
          label={t("name")}
          hint={t("nameHint")}
          value={draft.name}
          onChange={(name) => onChange({ name })}
          maxLength={200}
          error={error("name")}
        />
        <SenderField draft={draft} error={error("instance")} onChange={onChange} />
        <ValueField
          isLong
          label={t("text")}
          hint={t("textHint")}
          value={draft.template}
          onChange={(template) => onChange({ template })}
          maxLength={65_536}
          error={error("template")}
          areaRef={area}
        />
        <VariableButtons recipients={recipients} onInsert={insert} />
        <FileField draft={draft} onChange={onChange} />
      </section>
      <MessagePreview draft={draft} recipients={recipients} />
    </div>
  );
}

interface PartProps {
  draft: CampaignDraft;
  onChange(part: Partial<CampaignDraft>): void;
}

function SenderField({ draft, error, onChange }: PartProps & { error: string | undefined }) {
  const t = useTranslations();
  const { data = [], isPending } = useQuery(senderQuery);
  const chosen = data.find(({ id }) => id === draft.instance);
  if (!isPending && data.length === 0)
    return (
      <Notice tone="info" title={t("campaigns.noSender")}>
        <p>{t("campaigns.noSenderHelp")}</p>
        <div className="buttons">
          <LinkButton to="/instances/new">{t("instances.create")}</LinkButton>
        </div>
      </Notice>
    );
  const ready = data.filter(({ status }) => status === "connected");
  const others = data.filter(({ status }) => status !== "connected");
  const groups = {
    [t("campaigns.sendersReady")]: ready.map(({ id, name }): Option => [`#${id}`, name]),
    [t("campaigns.sendersOther")]: others.map(
      ({ id, name, status }): Option => [
        `#${id}`,
        t("campaigns.senderState", { name, status: t(`status.${status}`) }),
      ],
    ),
  };
  return (
    <div>
      <PickList
        label={t("campaigns.sender")}
        value={draft.instance === undefined ? "" : `#${draft.instance}`}
        options={{ "": t("campaigns.chooseSender") }}
        groups={groups}
        onChange={(one) => onChange({ instance: one === "" ? undefined : Number(one.slice(1)) })}
      />
      {error !== undefined && <p className="field-error">{error}</p>}
      {chosen && chosen.status !== "connected" && (
        <p className="hint">{t("campaigns.senderOffline", { name: chosen.name })}</p>
      )}
    </div>
  );
}

const ALWAYS_KNOWN = ["name", "phone"];
const SHOWN_VARIABLES = 12;

function VariableButtons(props: { recipients: readonly PickedRecipient[]; onInsert(name: string): void }) {
  const { recipients, onInsert } = props;
  const t = useTranslations("campaigns");
  const own = Object.keys(recipients[0]?.variables ?? {});
  const names = [...new Set([...ALWAYS_KNOWN, ...own])].slice(0, SHOWN_VARIABLES);
  return (
    <fieldset className="template-variables">
      <legend className="label">{t("variables")}</legend>
      <div className="buttons">
        {names.map((name) => (
          <ActionButton
            key={name}
            aria-label={t("insertVariable", { name })}
            onPress={() => onInsert(name)}
          >{`{{${name}}}`}</ActionButton>
        ))}
      </div>
      <p className="hint">{t("variablesHint")}</p>
    </fieldset>
  );
}

const MAX_FILE_BYTES = 16_777_216;

function FileField({ draft, onChange }: PartProps) {
  const t = useTranslations("campaigns");
  const open = (files: FileList | null) => {
    const file = files?.[0];
    if (file) onChange({ file, fileUrl: "", keepsFile: false });
  };
  const hasFile = draft.file !== undefined || draft.keepsFile;
  const isTooLarge = (draft.file?.size ?? 0) > MAX_FILE_BYTES;
  return (
    <details className="more-fields" open={hasFile || draft.fileUrl !== "" || undefined}>
      <summary>{t("file")}</summary>
      <div className="stack">
        <p className="hint">{t("fileHint")}</p>
        {hasFile && <p>{draft.file?.name ?? t("fileKept")}</p>}
        {isTooLarge && <p className="field-error">{t("fileTooLarge")}</p>}
        <div className="buttons">
          <FileTrigger onSelect={open}>
            <ActionButton>{t(hasFile ? "fileOther" : "fileChoose")}</ActionButton>
          </FileTrigger>
          {hasFile && (
            <ActionButton onPress={() => onChange({ file: undefined, keepsFile: false })}>
              {t("fileRemove")}
            </ActionButton>
          )}
        </div>
        {!hasFile && (
          <ValueField
            type="url"
            label={t("fileUrl")}
            value={draft.fileUrl}
            onChange={(fileUrl) => onChange({ fileUrl })}
            maxLength={2048}
          />
        )}
      </div>
    </details>
  );
}

/** The message of one recipient, rendered with the gateway's code. */
function MessagePreview(props: { draft: CampaignDraft; recipients: readonly PickedRecipient[] }) {
  const { draft, recipients } = props;
  const t = useTranslations("campaigns");
  const [wanted, setWanted] = useState(0);
  const at = Math.min(wanted, Math.max(0, recipients.length - 1));
  const shown = recipients[at];
  const { phone = "", variables = {} } = shown ?? {};
  const text = shown
    ? createRenderer(draft.template)(valuesOf({ phone, variables, lead: null, contact_name: null }))
    : draft.template;
  return (
    <section className="card message-preview" aria-label={t("preview")}>
      <h2>{t("preview")}</h2>
      <MessageBubble text={text} file={draft.file?.name ?? (draft.fileUrl || undefined)} />
      {shown === undefined ? (
        <p className="hint">{t("previewLater")}</p>
      ) : (
        <>
          <p className="hint" aria-live="polite">
            {t("previewFor", { phone: formatPhone(phone), at: at + 1, total: recipients.length })}
          </p>
          <div className="buttons">
            <ActionButton isDisabled={at === 0} onPress={() => setWanted(at - 1)}>
              {t("previousRecipient")}
            </ActionButton>
            <ActionButton isDisabled={at + 1 >= recipients.length} onPress={() => setWanted(at + 1)}>
              {t("nextRecipient")}
            </ActionButton>
          </div>
        </>
      )}
      <TemplateHints template={draft.template} recipients={recipients} />
    </section>
  );
}

function TemplateHints(props: { template: string; recipients: readonly PickedRecipient[] }) {
  const { template, recipients } = props;
  const t = useTranslations("campaigns");
  const wrong = invalidPlaceholdersOf(template);
  const missing = variablesOf(template)
    .filter((name) => name !== "phone")
    .map((name) => ({ name, count: recipients.filter(({ variables }) => !variables[name]).length }))
    .filter(({ count }) => count > 0);
  if (wrong.length === 0 && missing.length === 0) return null;
  return (
    <Notice tone="warning">
      {wrong.map((text) => (
        <p key={text}>{t("notVariable", { text })}</p>
      ))}
      {missing.map(({ name, count }) => (
        <p key={name}>{t("mayStayEmpty", { name: `{{${name}}}`, count })}</p>
      ))}
    </Notice>
  );
}

export function MessageBubble({ text, file }: { text: string; file?: string | undefined }) {
  const t = useTranslations("campaigns");
  return (
    <div className="text-bubble">
      {file !== undefined && <p className="text-bubble-file">{file}</p>}
      {text.trim() === "" ? (
        <p className="hint">{t("noText")}</p>
      ) : (
        <p className="text-bubble-text">{text}</p>
      )}
    </div>
  );
}
