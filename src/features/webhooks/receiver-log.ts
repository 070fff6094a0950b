import type { Log } from "../../platform/log/log.ts";
import { createRateLimitedWarnings } from "../../platform/log/rate-limited-warnings.ts";
import type { AttemptRecord, ReceiverChange } from "./attempt-writer.ts";
import { failureAdvice } from "./failure-advice.ts";

type ReceiverLogEntry = Pick<AttemptRecord, "webhook_id" | "instance_id" | "event_id" | "url"> & {
  name: string;
  status?: number | null;
  error?: string | null;
  recommended_action?: string;
};

const sourceOf = ({ webhook_id }: ReceiverLogEntry) => String(webhook_id);

/** Logs when receivers begin to fail and recover, with a limit per minute. */
export function createReceiverLog(log: Pick<Log, "warn" | "info">) {
  const warn = createRateLimitedWarnings<ReceiverLogEntry>({
    log,
    message: "a webhook has begun to fail",
    sourceOf,
  });
  const inform = createRateLimitedWarnings<ReceiverLogEntry>({
    log: { warn: log.info.bind(log) },
    message: "a webhook works again",
    sourceOf,
  });

  return (change: ReceiverChange | null, record: AttemptRecord): void => {
    const { webhook_id, webhook_name: name, instance_id, event_id, url, status_code, error } = record;
    const fields = { webhook_id, name, instance_id, event_id, url };
    if (change === "failing")
      warn({ ...fields, status: status_code, error, recommended_action: failureAdvice(record) });
    if (change === "recovered") inform(fields);
  };
}
