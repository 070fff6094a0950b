import { type HTMLInputAutoCompleteAttribute, useId, useLayoutEffect, useRef, useState } from "react";
import { FieldError, Input, Label, Text, TextArea, TextField } from "react-aria-components";
import { useTranslations } from "use-intl";

interface FormFieldProps {
  name: string;
  label: string;
  hint?: string;
  /** The hint is about what was typed: it stands out, and a screen reader reads it at once. */
  isHintUrgent?: boolean;
  type?: "text" | "email" | "password" | "tel" | "url";
  autoComplete?: HTMLInputAutoCompleteAttribute;
  placeholder?: string;
  defaultValue?: string;
  /** With `onInput`: the text is kept outside. */
  value?: string;
  onInput?: (text: string) => void;
  inputMode?: "decimal" | "numeric";
  maxLength?: number;
  onChange?: () => void;
  isOptional?: boolean;
  isLong?: boolean;
  isReadOnly?: boolean;
  /** The field has the focus as soon as it is shown. */
  hasFocus?: boolean;
}

/** A labelled field; what is wrong with it appears below it and is read with it. */
export function FormField({
  label,
  hint,
  isHintUrgent = false,
  placeholder,
  isLong,
  isOptional,
  onInput,
  hasFocus = false,
  ...field
}: FormFieldProps) {
  const t = useTranslations("common");
  const shown = { placeholder, autoCapitalize: "none", spellCheck: isLong === true };
  const change = onInput && { onChange: onInput };
  return (
    <TextField {...field} {...change} autoFocus={hasFocus} isRequired={!isOptional} className="field">
      <Label>{label}</Label>
      {isLong ? <TextArea {...shown} /> : <Input {...shown} />}
      {hint && (
        <Text slot="description" className="hint" aria-live="polite" data-urgent={isHintUrgent || undefined}>
          {hint}
        </Text>
      )}
      {/* Keeps its height: a button below must not move while it is being pressed. */}
      <div className="field-error-slot">
        <FieldError className="field-error">
          {({ validationDetails, validationErrors }) => (
            <MultilineError
              text={validationDetails.valueMissing ? t("required") : validationErrors.join(" ")}
            />
          )}
        </FieldError>
      </div>
    </TextField>
  );
}

/** Its place keeps the height of a fault of several lines too, which goes when the pointer presses a button below. */
function MultilineError({ text }: { text: string }) {
  const shown = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const place = shown.current?.closest<HTMLElement>(".field-error-slot");
    if (text !== "" && place) place.style.minHeight = `${place.offsetHeight}px`;
  }, [text]);
  return <span ref={shown}>{text}</span>;
}

type PhoneFieldProps = Omit<FormFieldProps, "type" | "value" | "onInput" | "hint" | "maxLength"> & {
  hint: string;
};

/** What the gateway reads at most: a link to a chat fits with its text. */
export const LONGEST_PHONE_TEXT = 200;

/** A field for a phone number, which says when the country code is missing. The gateway may know the country, so it is a hint. */
export function PhoneField({ hint, onChange, ...field }: PhoneFieldProps) {
  const t = useTranslations("common");
  const [isWithoutCode, setWithoutCode] = useState(false);
  const latest = useRef("");
  const judge = async (typed: string) => {
    latest.current = typed;
    // Loaded with the first number: it knows the numbers of every country.
    const { lacksCountryCode } = await import("./lacks-country-code.ts");
    if (latest.current === typed) setWithoutCode(lacksCountryCode(typed));
  };
  const enter = (typed: string) => {
    onChange?.();
    // Without the file there is no hint.
    judge(typed).catch(() => {});
  };
  return (
    <FormField
      {...field}
      type="tel"
      maxLength={LONGEST_PHONE_TEXT}
      hint={isWithoutCode ? t("noCountryCode") : hint}
      isHintUrgent={isWithoutCode}
      onInput={enter}
    />
  );
}

interface TimeFieldProps {
  label: string;
  /** ISO 8601 in UTC; empty: no time. */
  value: string;
  onChange(value: string): void;
}

/** A point in time in the reader's zone. */
export function TimeField({ label, value, onChange }: TimeFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        value={toLocal(value)}
        onChange={({ target }) => onChange(target.value === "" ? "" : new Date(target.value).toISOString())}
      />
    </div>
  );
}

function toLocal(value: string): string {
  if (value === "") return "";
  const at = new Date(value);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
