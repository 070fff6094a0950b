import { useTranslations } from "use-intl";
import { CheckField } from "../../components/check-field.tsx";
import { CheckList } from "../../components/check-list.tsx";
import { FormField } from "../../components/form-field.tsx";
import { PickList } from "../../components/pick-list.tsx";
import { ALL_EVENTS } from "../webhooks/event-groups.ts";
import type { Provider } from "./integrations-queries.ts";
import { type FieldSpec, toText } from "./provider-fields.ts";

interface IntegrationFieldProps {
  provider: Provider;
  field: FieldSpec;
  value: unknown;
  onChange(value: unknown): void;
}

const LONGEST = { text: 2048, url: 2048, secret: 4096, number: 10, long: 4096, escaped: 40 } as const;

/** One field of a configuration, with its explanation. */
export function IntegrationField({ provider, field, value, onChange }: IntegrationFieldProps) {
  // The texts of the fields are complete by a test.
  const t = useTranslations(`integrations.${provider}`) as unknown as (key: string) => string;
  const { name, kind, options = [] } = field;
  const label = t(`fields.${name}.label`);
  const hint = t(`fields.${name}.hint`);
  if (kind === "switch")
    return <CheckField label={label} hint={hint} isSelected={value === true} onChange={onChange} />;
  if (kind === "events")
    return (
      <CheckList
        label={label}
        hint={hint}
        options={ALL_EVENTS.map((event) => ({ value: event as string, text: event }))}
        value={value as string[]}
        onChange={onChange}
      />
    );
  if (kind === "choice")
    return (
      <PickList<string>
        label={label}
        hint={hint}
        value={String(value)}
        options={Object.fromEntries(options.map((option) => [option, t(`choices.${name}.${option}`)]))}
        onChange={onChange}
      />
    );
  return <TypedField field={field} label={label} hint={hint} value={value} />;
}

interface TypedFieldProps {
  field: FieldSpec;
  label: string;
  hint: string;
  value: unknown;
}

function TypedField({ field, label, hint, value }: TypedFieldProps) {
  const { name, kind, isRequired = false, maxLength } = field;
  const isLong = kind === "long" || kind === "lines" || kind === "variables";
  const type = kind === "secret" ? "password" : kind === "url" ? "url" : "text";
  return (
    <FormField
      name={name}
      label={label}
      hint={hint}
      type={type}
      autoComplete={kind === "secret" ? "new-password" : "off"}
      defaultValue={toText(field, value)}
      maxLength={maxLength ?? LONGEST[kind as keyof typeof LONGEST] ?? 100_000}
      isOptional={!isRequired}
      isLong={isLong}
      {...(kind === "number" && { inputMode: "numeric" as const })}
    />
  );
}
