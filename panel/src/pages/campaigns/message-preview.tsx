import { useState } from "react";
import { useTranslations } from "use-intl";
import {
  invalidPlaceholdersOf,
  renderTemplate,
  valuesOf,
  variablesOf,
} from "../../../../src/features/campaigns/render-template.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { formatPhone } from "../../components/format-phone.ts";
import { Notice } from "../../components/notice.tsx";
import type { CampaignDraft, PickedRecipient } from "./campaign-draft.ts";
import { MessageBubble } from "./message-bubble.tsx";

/** The message as one recipient gets it, rendered by the gateway's own rules. */
export function MessagePreview(props: { draft: CampaignDraft; recipients: readonly PickedRecipient[] }) {
  const { draft, recipients } = props;
  const t = useTranslations("campaigns");
  const [wanted, setWanted] = useState(0);
  const at = Math.min(wanted, Math.max(0, recipients.length - 1));
  const shown = recipients[at];
  const { phone = "", variables = {} } = shown ?? {};
  const text = shown
    ? renderTemplate(draft.template, valuesOf({ phone, variables, lead: null, contact_name: null }))
    : draft.template;
  return (
    <section className="plate message-preview" aria-label={t("preview")}>
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
    <Notice tone="wait">
      {wrong.map((text) => (
        <p key={text}>{t("notVariable", { text })}</p>
      ))}
      {missing.map(({ name, count }) => (
        <p key={name}>{t("mayStayEmpty", { name: `{{${name}}}`, count })}</p>
      ))}
    </Notice>
  );
}
