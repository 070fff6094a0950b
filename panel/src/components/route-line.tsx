import type { ReactNode } from "react";

export interface Station {
  key: string;
  name: string;
  detail?: ReactNode;
  state: "done" | "here" | "ahead" | "failed";
}

/** Stations on a line: how far something has come, and what lies ahead. */
export function RouteLine({ stations, isFlat = false }: { stations: readonly Station[]; isFlat?: boolean }) {
  return (
    <ol className="route" data-flat={isFlat ? "" : undefined}>
      {stations.map(({ key, name, detail, state }) => (
        <li key={key} data-state={state} aria-current={state === "here" ? "step" : undefined}>
          <div>
            <p className="station">{name}</p>
            {detail && <div className="hint">{detail}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}
