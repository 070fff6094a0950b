import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import type { Log } from "../../platform/log/log.ts";
import type { DatabaseAvailability } from "../cluster/database-availability.ts";
import { releaseLanes } from "./claim-lanes.ts";
import type { LaneKind } from "./lane-kind.ts";
import type { OwnedLane } from "./owned-lane.ts";
import type { OwnedLanes } from "./owned-lanes.ts";

/** A moved session logs in again, so a new node receives its lanes slowly. */
const AT_ONCE = 20;
/** A node keeps lanes that exceed its share by less than this fraction. */
const SLACK = 0.1;

export interface LaneRebalancerOptions {
  db: Db;
  node: string;
  log: Log;
  ownedLanes: OwnedLanes;
  availability: DatabaseAvailability;
  kinds(): LaneKind[];
  /** Boots of other nodes that have this role and a fresh heartbeat. */
  others(role: LaneKind["role"]): string[];
  /** How long the released lanes are left to the other nodes. */
  handoverGraceMs: number;
  /** Resolves when this node's claim that is under way has ended: it could claim the released lanes back. */
  whenClaimed(): Promise<void>;
  /** Notifies other nodes that there are lanes to claim. */
  notifyOthers(): void;
  /** The database may still assign lanes to this node that were closed here. */
  recheckOwnership(): void;
}

/** Releases the lanes that exceed this node's share, so that a node that joins gets work. */
export class LaneRebalancer {
  readonly #options: LaneRebalancerOptions;
  readonly #handedOver = new Set<number>();
  readonly #backoff = new RebalanceBackoff();
  #isBusy = false;

  constructor(options: LaneRebalancerOptions) {
    this.#options = options;
  }

  /** Lanes reserved for other nodes. */
  handedOver(): number[] {
    return [...this.#handedOver];
  }

  async check(): Promise<void> {
    const { availability, kinds, others } = this.#options;
    const shared = kinds().filter(({ role }) => others(role).length > 0);
    if (this.#isBusy || shared.length === 0) return;
    this.#isBusy = true;
    try {
      const totals = await this.#count(shared.map(({ kind }) => kind));
      for (const kind of shared) {
        await this.#checkLastHandover(kind.kind);
        await this.#handOverSurplus(kind, totals.get(kind.kind) ?? 0);
      }
    } catch (error) {
      availability.recordFailure(error);
    } finally {
      this.#isBusy = false;
    }
  }

  async #count(kinds: string[]): Promise<Map<string, number>> {
    const { rows } = await sql<{ kind: string; count: number }>`
      select kind, count(*) from lane where kind = any(${kinds}) group by kind`.execute(this.#options.db);
    return new Map(rows.map(({ kind, count }) => [kind, count]));
  }

  async #checkLastHandover(kind: string): Promise<void> {
    const { db, node } = this.#options;
    const lanes = this.#backoff.unclaimedLanes(kind);
    if (lanes.length === 0) return;
    const { rows } = await sql`
      select id from lane where id = any(${lanes}::bigint[]) and owner <> ${node} limit 1`.execute(db);
    if (rows.length > 0) this.#backoff.recordClaim(kind);
  }

  async #handOverSurplus({ kind, role }: LaneKind, total: number): Promise<void> {
    const { ownedLanes, log } = this.#options;
    const others = this.#options.others(role);
    const own = ownedLanes.all().filter(({ lane }) => lane.kind === kind);
    const share = Math.ceil(total / (others.length + 1));
    const surplus = own.length - share - Math.max(1, Math.floor(share * SLACK));
    if (surplus <= 0 || !this.#backoff.mayHandOver(kind, others, performance.now())) return;
    const handedOver = own
      .filter((work) => work.isOpen && work.isIdle())
      .slice(0, Math.min(surplus, AT_ONCE));
    if (handedOver.length === 0) return;
    log.info({ lane_kind: kind, count: handedOver.length }, "lanes are handed over to other nodes");
    const ids = handedOver.map(({ lane }) => lane.id);
    this.#backoff.recordHandover(kind, ids, others, performance.now());
    await this.#give(handedOver);
  }

  /** Closes each lane before another node can claim it, so that a session is never connected twice. */
  async #give(works: OwnedLane[]): Promise<void> {
    const { db, node, ownedLanes, handoverGraceMs, whenClaimed, notifyOthers, recheckOwnership } =
      this.#options;
    const ids = works.map(({ lane }) => lane.id);
    for (const id of ids) this.#handedOver.add(id);
    try {
      await Promise.all(works.map((work) => ownedLanes.close(work)));
      await whenClaimed();
      await releaseLanes(db, node, { only: ids });
      notifyOthers();
    } finally {
      void sleep(handoverGraceMs, undefined, { ref: false }).then(() => {
        for (const id of ids) this.#handedOver.delete(id);
        // If the database did not release them, this node still owns them, and no claim has checked them
        // meanwhile.
        recheckOwnership();
      });
    }
  }
}

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
