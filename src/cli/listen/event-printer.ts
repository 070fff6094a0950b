import { toTerminalJson, toTerminalText } from "../to-terminal-text.ts";
import { describeEvent } from "./describe-event.ts";
import type { VerifiedWebhook } from "./webhook-listener.ts";

/** Events go to standard output, everything else to standard error. */
export interface EventPrinter {
  event(webhook: Pick<VerifiedWebhook, "headers" | "event">, isFirst: boolean): void;
  note(text: string): void;
  /** At most one line per second: strangers could fill the terminal. */
  refusal(reason: string): void;
}

export interface EventPrinterOptions {
  /** One line of JSON for each event. */
  json: boolean;
  /** The payload below the line of each event. */
  verbose: boolean;
  out?: (line: string) => void;
  err?: (line: string) => void;
  now?: () => Date;
}

const REFUSALS_EVERY_MS = 1_000;

export function createEventPrinter({
  json,
  verbose,
  out = (line) => void process.stdout.write(`${line}\n`),
  err = (line) => void process.stderr.write(`${line}\n`),
  now = () => new Date(),
}: EventPrinterOptions): EventPrinter {
  let refusedAt = Number.NEGATIVE_INFINITY;
  let hidden = 0;
  return {
    event({ headers, event }, isFirst) {
      if (json) return out(toTerminalJson(event));
      const line = describeEvent(event, headers, now());
      out(isFirst ? line : `${line}  (again)`);
      if (verbose) out(toTerminalJson(event, 2));
    },
    note: err,
    refusal(reason) {
      if (now().getTime() - refusedAt < REFUSALS_EVERY_MS) {
        hidden += 1;
        return;
      }
      refusedAt = now().getTime();
      err(`refused with ${toTerminalText(reason)}${hidden === 0 ? "" : ` (and ${hidden} more before it)`}`);
      hidden = 0;
    },
  };
}
