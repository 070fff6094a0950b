import { useId, useMemo } from "react";
import { useLocale, useTranslations } from "use-intl";

interface PickListProps<Value extends string> {
  label: string;
  value: Value;
  options: Readonly<Record<Value, string>>;
  /** Further choices below a title; a title without choices is left out. */
  groups?: Readonly<Record<string, readonly Option[]>>;
  onChange(value: Value): void;
  hint?: string;
}

/** The value of a choice, and its words. */
export type Option = readonly [value: string, text: string];

/** A choice of few; the browser's own list is the most usable one on a phone. */
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

/** Regions of Unicode that are no country. */
const NO_COUNTRIES = new Set(["EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"]);
const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const COUNTRIES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

/** The countries by their codes of two letters, in the order of their names; `none` is the first choice. */
export function useCountries(none: string): Record<string, string> {
  const locale = useLocale();
  return useMemo(() => {
    const names = new Intl.DisplayNames(locale, { type: "region", fallback: "none" });
    const found = COUNTRIES.flatMap((code): [string, string][] => {
      const name = NO_COUNTRIES.has(code) ? undefined : names.of(code);
      // A code that was replaced by another one has the region of that one.
      return name === undefined || new Intl.Locale(`und-${code}`).region !== code ? [] : [[code, name]];
    });
    return { "": none, ...Object.fromEntries(found.toSorted(([, a], [, b]) => a.localeCompare(b, locale))) };
  }, [locale, none]);
}

interface CountryPickProps {
  /** Empty: none is chosen. */
  value: string;
  none: string;
  onChange(country: string): void;
}

/** The country of phone numbers without a country code. */
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
  /** Empty: none is chosen. */
  value: string;
  /** The choice of none; default: one must be chosen. */
  none?: string;
  onChange(zone: string): void;
}

/** A choice among the time zones that this browser knows by their place, and the chosen one: zones have several names. */
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
    // Typing the begin of a city finds it.
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
