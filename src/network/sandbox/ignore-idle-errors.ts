import type { Pool } from "pg";

const kept = new WeakSet<Pool>();

/** Lets the process outlive connections that die while idle or between two statements; without a listener it ends. */
export function ignoreIdleErrors(pool: Pool): void {
  if (kept.has(pool)) return;
  kept.add(pool);
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
}
