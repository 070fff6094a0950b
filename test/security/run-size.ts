/** Whether this is the full catalogue (`npm run security`) or the fast cut of the suite. */
export const isFullRun = process.env.WAYGATE_SECURITY === "full";

/** Figures of the full catalogue go to the terminal, where docs/reliability/security.md takes them from. */
export function printFigures(title: string, figures: unknown): void {
  if (isFullRun) process.stdout.write(`${title} ${JSON.stringify(figures, undefined, 2)}\n`);
}
