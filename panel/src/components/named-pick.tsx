import { useId } from "react";

interface NamedPickProps {
  name: string;
  label: string;
  hint?: string;
  options: Readonly<Record<string, string>>;
  defaultValue?: string;
}

/** A choice of few that is sent with the fields of its form. */
export function NamedPick({ name, label, hint, options, defaultValue }: NamedPickProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        name={name}
        className="select"
        defaultValue={defaultValue}
        aria-describedby={hint ? `${id}-hint` : undefined}
      >
        {Object.entries(options).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      {hint && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
    </div>
  );
}
