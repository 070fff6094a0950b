const GRACE_MS = 10_000;

type UndoStep = (leftMs: () => number) => Promise<unknown>;

/** Stops everything that was started, in reverse order. */
export class CleanupStack {
  readonly #steps: UndoStep[] = [];

  add(step: UndoStep): void {
    this.#steps.push(step);
  }

  /** Runs every step, even after a failure, and then throws the first failure. */
  async run(graceMs = GRACE_MS): Promise<void> {
    const until = performance.now() + graceMs;
    const failures: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      await step(() => Math.max(0, until - performance.now())).catch((error: unknown) =>
        failures.push(error),
      );
    }
    if (failures.length > 0) throw failures[0];
  }
}
