import { type HTMLInputAutoCompleteAttribute, useLayoutEffect, useRef } from "react";
import { FieldError, Input, Label, Text, TextArea, TextField } from "react-aria-components";
import { useTranslations } from "use-intl";

export interface FormFieldProps {
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
      <div className="fault-place">
        <FieldError className="fault">
          {({ validationDetails, validationErrors }) => (
            <FaultText text={validationDetails.valueMissing ? t("required") : validationErrors.join(" ")} />
          )}
        </FieldError>
      </div>
    </TextField>
  );
}

/** Its place keeps the height of a fault of several lines too, which goes when the pointer presses a button below. */
function FaultText({ text }: { text: string }) {
  const shown = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const place = shown.current?.closest<HTMLElement>(".fault-place");
    if (text !== "" && place) place.style.minHeight = `${place.offsetHeight}px`;
  }, [text]);
  return <span ref={shown}>{text}</span>;
}
