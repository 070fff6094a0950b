import { useId, useMemo } from "react";
import { useLocale, useTranslations } from "use-intl";

interface PickListProps<Value extends string> {
  label: string;
  value: Value;
  options: Readonly<Record<Value, string>>;
  /** More choices, each group below a title. Empty groups are left out. */
  groups?: Readonly<Record<string, readonly Option[]>>;
  onChange(value: Value): void;
  hint?: string;
}

export type Option = readonly [value: string, text: string];

/** A native select, the most usable list on a phone. */
export function PickList<Value extends string>({
  label,
  value,
  options,
  groups = {},
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
        <Options options={Object.entries<string>(options)} />
        {Object.entries(groups).map(
          ([title, choices]) =>
            choices.length > 0 && (
              <optgroup key={title} label={title}>
                <Options options={choices} />
              </optgroup>
            ),
        )}
      </select>
      {hint && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

function Options({ options }: { options: readonly Option[] }) {
  return options.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
}

interface NamedPickProps {
  name: string;
  label: string;
  hint?: string;
  options: Readonly<Record<string, string>>;
  defaultValue?: string;
}

/** A native select that is submitted with its form. */
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

/** Unicode regions that are no countries. */
const NO_COUNTRIES = new Set(["EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"]);
const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const COUNTRIES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

/** Country names by ISO code, sorted by name, after the choice `none`. */
export function useCountries(none: string): Record<string, string> {
  const locale = useLocale();
  return useMemo(() => {
    const names = new Intl.DisplayNames(locale, { type: "region", fallback: "none" });
    const found = COUNTRIES.flatMap((code): [string, string][] => {
      const name = NO_COUNTRIES.has(code) ? undefined : names.of(code);
      // Leaves out deprecated codes, which resolve to the region that replaced them.
      return name === undefined || new Intl.Locale(`und-${code}`).region !== code ? [] : [[code, name]];
    });
    return { "": none, ...Object.fromEntries(found.toSorted(([, a], [, b]) => a.localeCompare(b, locale))) };
  }, [locale, none]);
}

interface CountryPickProps {
  /** Empty if none is chosen. */
  value: string;
  none: string;
  onChange(country: string): void;
}

/** The default country of phone numbers without a country code. */
export function CountryPick({ value, none, onChange }: CountryPickProps) {
  const t = useTranslations("common");
  const options = useCountries(none);
  return (
    <PickList
      label={t("country")}
      hint={t("countryHelp")}
      value={value}
      options={options}
      onChange={onChange}
    />
  );
}

interface ZonePickProps {
  label: string;
  hint: string;
  /** Empty if none is chosen. */
  value: string;
  /** Text of the empty choice; without it a zone is required. */
  none?: string;
  onChange(zone: string): void;
}

/** The time zones of this browser, and the chosen one, which may have another name here. */
export function ZonePick({ label, hint, value, none, onChange }: ZonePickProps) {
  const t = useTranslations("common");
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const suggested = [...new Set([value, own, "UTC"])].filter((zone) => zone !== "");
  const groups: Record<string, Option[]> = {
    [t("suggested")]: suggested.map((zone) => [zone, nameZone(zone)]),
  };
  for (const zone of Intl.supportedValuesOf("timeZone")) {
    if (suggested.includes(zone)) continue;
    const [area = "", ...place] = zone.split("/");
    // Typing the first letters of a city selects it.
    const choices = groups[area] ?? [];
    groups[area] = choices;
    choices.push([zone, nameZone(place.reverse().join(", ") || area)]);
  }
  return (
    <PickList
      label={label}
      hint={hint}
      value={value}
      options={none === undefined ? {} : { "": none }}
      groups={groups}
      onChange={onChange}
    />
  );
}

function nameZone(zone: string): string {
  return zone.replaceAll("_", " ");
}
