/** The examples at the end of the help of a command. */
export function helpExamples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join("")}`;
}
