import { Checkbox, CheckboxGroup, Label, Text } from "react-aria-components";

interface CheckFieldProps {
  label: string;
  hint?: string;
  isSelected: boolean;
  onChange(isSelected: boolean): void;
  isDisabled?: boolean;
}

/** A checkbox. */
export function CheckField({ label, hint, ...field }: CheckFieldProps) {
  return (
    <Checkbox {...field} className="check">
      <CheckMark />
      <span>
        {label}
        {hint && <span className="hint">{hint}</span>}
      </span>
    </Checkbox>
  );
}

interface CheckListProps<Value extends string> {
  label: string;
  hint?: string;
  options: readonly { value: Value; text: string; hint?: string }[];
  value: readonly Value[];
  onChange(value: Value[]): void;
}

/** Several checkboxes. */
export function CheckList<Value extends string>(props: CheckListProps<Value>) {
  const { label, hint, options, value, onChange } = props;
  return (
    <CheckboxGroup className="field" value={[...value]} onChange={(next) => onChange(next as Value[])}>
      <Label>{label}</Label>
      {hint && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <div className="checks">
        {options.map((option) => (
          <Checkbox key={option.value} value={option.value} className="check">
            <CheckMark />
            <span>
              {option.text}
              {option.hint && <span className="hint">{option.hint}</span>}
            </span>
          </Checkbox>
        ))}
      </div>
    </CheckboxGroup>
  );
}

/** The box of a checkbox. CSS shows its tick. */
function CheckMark() {
  return (
    <svg className="check-mark" width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
      <rect x="1" y="1" width="20" height="20" rx="4" />
      <path d="M6 11.5l3.5 3.5L16.5 7.5" />
    </svg>
  );
}
