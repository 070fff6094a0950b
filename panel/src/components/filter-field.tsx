import { type FormEvent, useId } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "./action-button.tsx";

interface FilterFieldProps {
  label: string;
  value: string | undefined;
  onChange(value: string | undefined): void;
  isNumber?: boolean;
  placeholder?: string;
}

/** A typed filter of a list, applied with Enter or the button beside it. */
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
