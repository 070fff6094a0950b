import { Counter, type Registry } from "prom-client";

/** Counts the delivery attempts that this node has recorded. */
export type AttemptCounter = (attempt: { success: boolean }) => void;

export function createAttemptCounter(registry: Registry): AttemptCounter {
  const attempts = new Counter({
    name: "waygate_webhook_attempts_total",
    help: "Attempts to deliver an event to a webhook that this node recorded, delivered or failed",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of ["delivered", "failed"]) attempts.inc({ outcome }, 0);
  return ({ success }) => attempts.inc({ outcome: success ? "delivered" : "failed" });
}
