export interface NodeRow {
  id: string;
  boot: number;
  beat: number;
  dead: boolean;
  roles: string[];
}

interface ObservedNode extends NodeRow {
  /** When this beat was first read, on this process's monotonic clock. */
  since: number;
}

/** What this node saw of the beats of the others, judged on its own monotonic clock and over working reads only. */
export class FailureDetector {
  readonly #self: string;
  readonly #deadAfterMs: number;
  #seen = new Map<string, ObservedNode>();
  #readAt: number | undefined;

  constructor(self: string, deadAfterMs: number) {
    this.#self = self;
    this.#deadAfterMs = deadAfterMs;
  }

  /** Takes note of one reading; answers with the nodes whose beat stood still for too long. */
  see(rows: readonly NodeRow[], sentAt: number, receivedAt: number): NodeRow[] {
    // After a pause of ours or of the database nobody had the chance to show a beat: all start anew.
    const isGap = this.#readAt === undefined || sentAt - this.#readAt > this.#deadAfterMs / 2;
    this.#readAt = receivedAt;
    const seen = new Map<string, ObservedNode>();
    for (const row of rows) {
      const before = this.#seen.get(row.id);
      const isSame = before?.boot === row.boot && before.beat === row.beat && before.dead === row.dead;
      if (row.id !== this.#self)
        seen.set(row.id, { ...row, since: isSame && !isGap ? before.since : receivedAt });
    }
    this.#seen = seen;
    return [...seen.values()].filter((node) => !node.dead && sentAt - node.since >= this.#deadAfterMs);
  }

  /** What was read so far says nothing about the time until the next reading. */
  interrupted(): void {
    this.#readAt = undefined;
  }

  declaredDead(id: string): void {
    const node = this.#seen.get(id);
    if (node) node.dead = true;
  }

  dead(): string[] {
    return [...this.#seen.values()].filter((node) => node.dead).map((node) => node.id);
  }

  /** Nodes whose beat is fresh at this moment of the monotonic clock, with this role if one is given. */
  alive(now: number, role?: string): NodeRow[] {
    return [...this.#seen.values()].filter(
      (node) =>
        !node.dead &&
        now - node.since < this.#deadAfterMs &&
        (role === undefined || node.roles.includes(role)),
    );
  }
}
