const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 600_000;

interface LastHandover {
  lanes: readonly number[];
  /** The nodes that could have claimed them. */
  to: string;
  at: number;
  waitMs: number;
}

/**
 * The last hand-over of each kind that no node claimed from. A live node may claim nothing, because it is too
 * busy or its version does not know the kind. So the next hand-over to the same nodes waits, twice as long
 * each time.
 */
export class RebalanceBackoff {
  readonly #byKind = new Map<string, LastHandover>();

  recordHandover(kind: string, lanes: readonly number[], nodes: readonly string[], now: number): void {
    const before = this.#byKind.get(kind);
    const to = nameOf(nodes);
    const waitMs = before?.to === to ? Math.min(before.waitMs * 2, LONGEST_WAIT_MS) : FIRST_WAIT_MS;
    this.#byKind.set(kind, { lanes, to, at: now, waitMs });
  }

  unclaimedLanes(kind: string): readonly number[] {
    return this.#byKind.get(kind)?.lanes ?? [];
  }

  /** A node claimed a lane of the last hand-over. */
  recordClaim(kind: string): void {
    this.#byKind.delete(kind);
  }

  /** Whether the next hand-over to these nodes is due. */
  mayHandOver(kind: string, nodes: readonly string[], now: number): boolean {
    const last = this.#byKind.get(kind);
    return last?.to !== nameOf(nodes) || now - last.at >= last.waitMs;
  }
}

function nameOf(nodes: readonly string[]): string {
  return nodes.toSorted().join(", ");
}
