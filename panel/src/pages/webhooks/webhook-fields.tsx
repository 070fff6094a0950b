import { useState } from "react";
import { useTranslations } from "use-intl";
import { CheckField, CheckList } from "../../components/fields/check-field.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { EVENT_GROUPS, type EventGroup, type WebhookEvent } from "./event-groups.ts";
import type { WebhookDraft } from "./webhook-draft.ts";

interface FieldsProps {
  draft: WebhookDraft;
  change(part: Partial<WebhookDraft>): void;
}

const GROUPS = Object.keys(EVENT_GROUPS) as EventGroup[];
const keyOf = <Name extends WebhookEvent>(name: Name) =>
  name.replace(".", "_") as Name extends `${infer Group}.${infer Event}` ? `${Group}_${Event}` : never;

export function EventFields({ draft, change }: FieldsProps) {
  const t = useTranslations("webhooks");
  const [isInvalid, setInvalid] = useState(false);
  const choose = (group: EventGroup, chosen: WebhookEvent[]) => {
    const names: readonly WebhookEvent[] = EVENT_GROUPS[group];
    const events = [...draft.events.filter((name) => !names.includes(name)), ...chosen];
    setInvalid(events.length === 0);
    change({ events });
  };
  return (
    <section className="card">
      <h3>{t("form.events")}</h3>
      {isInvalid && <p className="field-error">{t("form.noEvent")}</p>}
      {GROUPS.map((group) => (
        <CheckList<WebhookEvent>
          key={group}
          label={t(`groups.${group}`)}
          options={EVENT_GROUPS[group].map((value) => ({
            value,
            text: value,
            hint: t(`events.${keyOf(value)}`),
          }))}
          value={draft.events}
          onChange={(events) =>
            choose(
              group,
              events.filter((name) => (EVENT_GROUPS[group] as readonly string[]).includes(name)),
            )
          }
        />
      ))}
      <CheckList
        label={t("form.exclude")}
        hint={t("form.excludeHint")}
        options={(["sent_by_api", "from_me", "groups"] as const).map((value) => ({
          value,
          text: t(`tags.${value}`),
        }))}
        value={draft.exclude}
        onChange={(exclude) => change({ exclude })}
      />
    </section>
  );
}

export function DeliveryFields({ draft, change }: FieldsProps) {
  const t = useTranslations("webhooks.form");
  return (
    <section className="card">
      <h3>{t("delivery")}</h3>
      <PickList
        label={t("ordering")}
        value={draft.ordering}
        options={{ chat: t("orderChat"), strict: t("orderStrict"), none: t("orderNone") }}
        hint={t(`orderHelp.${draft.ordering}`)}
        onChange={(ordering) => change({ ordering })}
      />
      <CheckField
        label={t("retry")}
        hint={t("retryHint")}
        isSelected={draft.retry_enabled}
        onChange={(retry_enabled) => change({ retry_enabled })}
      />
      {draft.retry_enabled && (
        <FormField
          name="max_attempts"
          label={t("attempts")}
          hint={t("attemptsHint")}
          defaultValue={draft.max_attempts}
          inputMode="numeric"
          maxLength={2}
        />
      )}
      <FormField
        name="headers"
        label={t("headers")}
        hint={t("headersHint")}
        placeholder="Authorization: Bearer ..."
        defaultValue={draft.headers}
        maxLength={20_000}
        isOptional
        isLong
      />
      <FormatFields draft={draft} change={change} />
    </section>
  );
}

/** Formats that imitate no other gateway. */
const FORMAT_HINTS: Partial<Record<WebhookDraft["format"], "formatNative" | "formatCloud">> = {
  native: "formatNative",
  cloudevents: "formatCloud",
};

/** Body formats of other gateways, and CloudEvents. */
function FormatFields({ draft, change }: FieldsProps) {
  const t = useTranslations("webhooks.form");
  return (
    <>
      <PickList
        label={t("format")}
        value={draft.format}
        options={{
          native: "Waygate",
          cloudevents: "CloudEvents 1.0",
          evolution: "Evolution API",
          uazapi: "uazapi",
          waha: "WAHA",
        }}
        hint={t(FORMAT_HINTS[draft.format] ?? "formatOther")}
        onChange={(format) => change({ format })}
      />
      {!(draft.format in FORMAT_HINTS) && (
        <FormField
          name="format_token"
          label={t("token")}
          hint={t("tokenHint")}
          defaultValue={draft.format_token}
          autoComplete="off"
          maxLength={256}
          isOptional
        />
      )}
    </>
  );
}
