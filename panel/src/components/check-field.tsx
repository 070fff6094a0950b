import { Checkbox } from "react-aria-components";
import { CheckMark } from "./check-mark.tsx";

interface CheckFieldProps {
  label: string;
  hint?: string;
  isSelected: boolean;
  onChange(isSelected: boolean): void;
  isDisabled?: boolean;
}

/** One thing that is on or off. */
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
