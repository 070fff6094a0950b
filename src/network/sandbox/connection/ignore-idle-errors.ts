import type { Pool } from "pg";

const kept = new WeakSet<Pool>();

/** Without a listener, an error on a pooled connection between two statements would end the process. */
export function ignoreIdleErrors(pool: Pool): void {
  if (kept.has(pool)) return;
  kept.add(pool);
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
}
