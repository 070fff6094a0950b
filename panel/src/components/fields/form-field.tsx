import { type HTMLInputAutoCompleteAttribute, useId, useLayoutEffect, useRef, useState } from "react";
import { FieldError, Input, Label, Text, TextArea, TextField } from "react-aria-components";
import { useTranslations } from "use-intl";

interface FormFieldProps {
  name: string;
  label: string;
  hint?: string;
  /** Stands out, and a screen reader announces it at once. */
  isHintUrgent?: boolean;
  type?: "text" | "email" | "password" | "tel" | "url";
  autoComplete?: HTMLInputAutoCompleteAttribute;
  placeholder?: string;
  defaultValue?: string;
  /** Controlled together with `onInput`. */
  value?: string;
  onInput?: (text: string) => void;
  inputMode?: "decimal" | "numeric";
  maxLength?: number;
  onChange?: () => void;
  isOptional?: boolean;
  isLong?: boolean;
  isReadOnly?: boolean;
  /** Takes the focus when it is first shown. */
  hasFocus?: boolean;
}

/** A labelled input with its error below it. */
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
      {/* Keeps its height, so that a button below does not move while it is pressed. */}
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

/** Keeps the height of an error of several lines until the pointer is released, so that no button below moves away. */
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

/** Length that the gateway accepts: a wa.me link with a text fits. */
export const LONGEST_PHONE_TEXT = 200;

/** A phone number. A missing country code is only a hint, because the gateway may know the country. */
export function PhoneField({ hint, onChange, ...field }: PhoneFieldProps) {
  const t = useTranslations("common");
  const [isWithoutCode, setWithoutCode] = useState(false);
  const latest = useRef("");
  const judge = async (typed: string) => {
    latest.current = typed;
    // Loaded with the first number, because it contains the numbering plans of all countries.
    const { lacksCountryCode } = await import("./lacks-country-code.ts");
    if (latest.current === typed) setWithoutCode(lacksCountryCode(typed));
  };
  const enter = (typed: string) => {
    onChange?.();
    // If the chunk cannot be loaded, there is no hint.
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
  /** ISO 8601 in UTC; empty for no time. */
  value: string;
  onChange(value: string): void;
}

/** A date and time in the user's time zone. */
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
