import type { ReactNode, RefObject } from "react";
import { FieldError, Input, Label, Text, TextArea, TextField } from "react-aria-components";

interface ValueFieldProps {
  label: string;
  hint?: ReactNode;
  value: string;
  onChange(value: string): void;
  type?: "text" | "email" | "tel" | "url" | "number" | "search" | "date" | "time" | "datetime-local";
  /** What is wrong with the value; undefined: nothing. */
  fault?: string | undefined;
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

/** A labelled field whose value its page keeps. */
export function ValueField(props: ValueFieldProps) {
  const { label, hint, fault, placeholder, isLong, min, max, step, areaRef, type = "text", ...field } = props;
  return (
    <TextField
      {...field}
      type={type as "text"}
      isInvalid={fault !== undefined}
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
      {fault !== undefined && <FieldError className="fault">{fault}</FieldError>}
    </TextField>
  );
}
