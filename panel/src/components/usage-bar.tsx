import { useId } from "react";

interface UsageBarProps {
  name: string;
  used: number;
  /** null: no limit. */
  limit: number | null;
  /** The same in words. */
  text: string;
  /** A share of a whole, of which much is no warning. */
  isPlain?: boolean;
}

/** How much of a limit is used; the words say the same as the bar. */
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
