import { type ReactNode, useId } from "react";

/** Names with their values, as a `dl`. */
export function DescriptionList({ items }: { items: readonly { name: string; value: ReactNode }[] }) {
  return (
    <dl className="description-list">
      {items.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface UsageBarProps {
  name: string;
  used: number;
  /** null: no limit. */
  limit: number | null;
  /** The same value as text. */
  text: string;
  /** Never shown as a warning, however full the bar is. */
  isPlain?: boolean;
}

/** How much of a limit is used, as a bar and as text. */
export function UsageBar({ name, used, limit, text, isPlain = false }: UsageBarProps) {
  const id = useId();
  const share = limit === null || limit === 0 ? 0 : used / limit;
  return (
    <div className="usage">
      <p id={id}>
        <strong>{name}</strong> <span className="hint">{text}</span>
      </p>
      {limit !== null && (
        <progress
          className="usage-bar"
          data-full={!isPlain && (limit === 0 || share >= 0.9) ? "" : undefined}
          max={Math.max(limit, 1)}
          value={limit === 0 ? 1 : Math.min(used, limit)}
          aria-labelledby={id}
        />
      )}
    </div>
  );
}

export interface Step {
  key: string;
  name: string;
  detail?: ReactNode;
  state: "done" | "here" | "ahead" | "failed";
}

/** The steps of a process: those done, the current one, and those ahead. */
export function Stepper({ steps, isFlat = false }: { steps: readonly Step[]; isFlat?: boolean }) {
  return (
    <ol className="stepper" data-flat={isFlat ? "" : undefined}>
      {steps.map(({ key, name, detail, state }) => (
        <li key={key} data-state={state} aria-current={state === "here" ? "step" : undefined}>
          <div>
            <p className="step-name">{name}</p>
            {detail && <div className="hint">{detail}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}
