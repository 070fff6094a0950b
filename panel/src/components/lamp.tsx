export type Tone = "go" | "wait" | "stop" | "note" | "rest";

/** The shape says the same as the colour. */
const SHAPES: Readonly<Record<Tone, string>> = {
  go: "M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0z",
  wait: "M5 0v10A5 5 0 0 1 5 0zm0 1.2v7.6a3.8 3.8 0 0 0 0-7.6z",
  stop: "M0.5 0.5h9v9h-9z",
  note: "M5 0l5 9.5H0z",
  rest: "M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0zm0 2a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
};

export function Lamp({ tone }: { tone: Tone }) {
  return (
    <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
      <path d={SHAPES[tone]} fill="currentColor" fillRule="evenodd" />
    </svg>
  );
}
