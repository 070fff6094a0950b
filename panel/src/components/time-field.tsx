import { useId } from "react";

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
