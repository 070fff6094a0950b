import { useId } from "react";

interface PickListProps<Value extends string> {
  label: string;
  value: Value;
  options: Readonly<Record<Value, string>>;
  onChange(value: Value): void;
  hint?: string;
}

/** A choice of few; the browser's own list is the most usable one on a phone. */
export function PickList<Value extends string>({
  label,
  value,
  options,
  onChange,
  hint,
}: PickListProps<Value>) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="select"
        value={value}
        aria-describedby={hint && `${id}-hint`}
        onChange={(event) => onChange(event.target.value as Value)}
      >
        {Object.entries<string>(options).map(([key, text]) => (
          <option key={key} value={key}>
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

interface ZonePickProps {
  label: string;
  hint: string;
  /** Empty: none is chosen. */
  value: string;
  /** The choice of none; default: one must be chosen. */
  none?: string;
  onChange(zone: string): void;
}

/** A choice among the time zones that this browser knows, and the chosen one: zones have several names. */
export function ZonePick({ label, hint, value, none, onChange }: ZonePickProps) {
  const zones = allZones(value).map((zone) => [zone, zone.replaceAll("_", " ")]);
  const options = Object.fromEntries(none === undefined ? zones : [["", none], ...zones]);
  return <PickList label={label} hint={hint} value={value} options={options} onChange={onChange} />;
}

function allZones(chosen: string): string[] {
  const zones = new Set([...Intl.supportedValuesOf("timeZone"), "UTC", chosen]);
  zones.delete("");
  return [...zones].sort();
}
