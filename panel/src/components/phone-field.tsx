import { useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { FormField, type FormFieldProps } from "./form-field.tsx";

type PhoneFieldProps = Omit<FormFieldProps, "type" | "value" | "onInput" | "hint"> & { hint: string };

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
      hint={isWithoutCode ? t("noCountryCode") : hint}
      isHintUrgent={isWithoutCode}
      onInput={enter}
    />
  );
}
