/** Whether this is the full catalogue (`npm run security`). */
export const isFullRun = process.env.WAYGATE_SECURITY === "full";

/** Prints figures of the full catalogue for docs/reliability/security.md. */
export function printFigures(title: string, figures: unknown): void {
  if (isFullRun) process.stdout.write(`${title} ${JSON.stringify(figures, undefined, 2)}\n`);
}
