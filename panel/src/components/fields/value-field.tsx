import { type FormEvent, type ReactNode, type RefObject, useId } from "react";
import { FieldError, Input, Label, Text, TextArea, TextField } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../action-button.tsx";

interface ValueFieldProps {
  label: string;
  hint?: ReactNode;
  value: string;
  onChange(value: string): void;
  type?: "text" | "email" | "tel" | "url" | "number" | "search" | "date" | "time" | "datetime-local";
  error?: string | undefined;
  name?: string;
  placeholder?: string;
  maxLength?: number;
  min?: number;
  max?: number;
  step?: number | "any";
  isRequired?: boolean;
  isLong?: boolean;
  areaRef?: RefObject<HTMLTextAreaElement | null>;
}

/** A labelled, controlled input. */
export function ValueField(props: ValueFieldProps) {
  const { label, hint, error, placeholder, isLong, min, max, step, areaRef, type = "text", ...field } = props;
  return (
    <TextField
      {...field}
      type={type as "text"}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      autoComplete="off"
      className="field"
    >
      <Label>{label}</Label>
      {isLong ? (
        <TextArea placeholder={placeholder} {...(areaRef && { ref: areaRef })} />
      ) : (
        <Input placeholder={placeholder} min={min} max={max} step={step} />
      )}
      {hint && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      {error !== undefined && <FieldError className="field-error">{error}</FieldError>}
    </TextField>
  );
}

interface FilterFieldProps {
  label: string;
  value: string | undefined;
  onChange(value: string | undefined): void;
  isNumber?: boolean;
  placeholder?: string;
}

/** A text filter of a list, applied with Enter or its button. */
export function FilterField({ label, value, onChange, isNumber = false, placeholder }: FilterFieldProps) {
  const t = useTranslations("common");
  const id = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get("filter");
    onChange(typeof typed === "string" && typed.trim() !== "" ? typed.trim() : undefined);
  };
  return (
    <form key={value} className="filter" onSubmit={submit}>
      <div className="field">
        <label htmlFor={id}>{label}</label>
        <input
          id={id}
          name="filter"
          type="search"
          inputMode={isNumber ? "numeric" : "search"}
          defaultValue={value ?? ""}
          maxLength={100}
          placeholder={placeholder}
          autoComplete="off"
        />
      </div>
      <ActionButton type="submit" aria-label={`${t("search")}: ${label}`}>
        {t("search")}
      </ActionButton>
    </form>
  );
}
