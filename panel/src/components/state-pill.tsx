import type { ReactNode } from "react";
import { Lamp, type Tone } from "./lamp.tsx";

/** A state as a word, with a lamp whose shape says the same. */
export function StatePill({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className="pill" data-tone={tone}>
      <Lamp tone={tone} />
      {children}
    </span>
  );
}
