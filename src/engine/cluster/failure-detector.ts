/**
 * A node fences itself after `selfFenceMs` without a successful heartbeat and closes its sessions within 1.5
 * s. Other nodes declare it dead only after `deadAfterMs`: at their fourth read of an unchanged heartbeat,
 * about 12 s after the first. One second of that is slack for slow reads.
 */
export const NODE_TIMING = { heartbeatMs: 3_000, deadAfterMs: 11_000, selfFenceMs: 9_000 };

export interface NodeRow {
  id: string;
  boot: number;
  heartbeat: number;
  dead: boolean;
  roles: string[];
}

interface ObservedNode extends NodeRow {
  /** When this node first read this heartbeat, on its monotonic clock. */
  since: number;
}

/**
 * Detects dead nodes from their heartbeats, on this process's monotonic clock and only from successful reads.
 */
export class FailureDetector {
  readonly #self: string;
  readonly #deadAfterMs: number;
  #seen = new Map<string, ObservedNode>();
  #readAt: number | undefined;

  constructor(self: string, deadAfterMs: number) {
    this.#self = self;
    this.#deadAfterMs = deadAfterMs;
  }

  /** Records one read; returns the nodes whose heartbeat has not changed for too long. */
  observe(rows: readonly NodeRow[], sentAt: number, receivedAt: number): NodeRow[] {
    // After a pause of this node or the database, no node could show a heartbeat, so every timer restarts.
    const isGap = this.#readAt === undefined || sentAt - this.#readAt > this.#deadAfterMs / 2;
    this.#readAt = receivedAt;
    const seen = new Map<string, ObservedNode>();
    for (const row of rows) {
      const before = this.#seen.get(row.id);
      const isSame =
        before?.boot === row.boot && before.heartbeat === row.heartbeat && before.dead === row.dead;
      if (row.id !== this.#self)
        seen.set(row.id, { ...row, since: isSame && !isGap ? before.since : receivedAt });
    }
    this.#seen = seen;
    return [...seen.values()].filter((node) => !node.dead && sentAt - node.since >= this.#deadAfterMs);
  }

  /** Earlier reads say nothing about the time until the next read. */
  reset(): void {
    this.#readAt = undefined;
  }

  declaredDead(id: string): void {
    const node = this.#seen.get(id);
    if (node) node.dead = true;
  }

  dead(): string[] {
    return [...this.#seen.values()].filter((node) => node.dead).map((node) => node.id);
  }

  /** Nodes with a fresh heartbeat at this time of the monotonic clock; only those with `role`, if given. */
  alive(now: number, role?: string): NodeRow[] {
    return [...this.#seen.values()].filter(
      (node) =>
        !node.dead &&
        now - node.since < this.#deadAfterMs &&
        (role === undefined || node.roles.includes(role)),
    );
  }
}
