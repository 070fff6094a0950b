import { Checkbox, CheckboxGroup, Label, Text } from "react-aria-components";
import { CheckMark } from "./check-mark.tsx";

interface CheckListProps<Value extends string> {
  label: string;
  hint?: string;
  options: readonly { value: Value; text: string; hint?: string }[];
  value: readonly Value[];
  onChange(value: Value[]): void;
}

/** A choice of several. */
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
