import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../platform/db/prepared-statement.ts";
import { createBatchLoader } from "../batch-queue.ts";
import type { ClusterMember } from "../cluster/cluster-member.ts";
import { ALL_KEYS, type NotificationBus } from "../cluster/notification-bus.ts";

/** Jobs were added to a lane; its jobs were changed; lanes may have another owner. */
export const LANE_TOPIC = { jobs: "engine.jobs", changed: "engine.changed", moved: "engine.lanes" } as const;

/** How long an owner is believed, as long as a heartbeat. */
const OWNER_MS = 3_000;

/** Publishes notifications about lanes of other nodes, to their owners only. */
export class LaneNotifier {
  readonly #notifications: NotificationBus;
  readonly #node: Pick<ClusterMember, "countOthers">;
  readonly #owners;
  #known = new Map<number, string>();
  #knownSince = Number.NEGATIVE_INFINITY;

  constructor(db: Db, notifications: NotificationBus, node: Pick<ClusterMember, "countOthers">) {
    this.#notifications = notifications;
    this.#node = node;
    this.#owners = createBatchLoader<number, string | undefined>({ load: (lanes) => findOwners(db, lanes) });
    notifications.subscribe(LANE_TOPIC.moved, () => this.#known.clear());
  }

  publish(lanes: readonly number[], changed: boolean): void {
    const topic = changed ? LANE_TOPIC.changed : LANE_TOPIC.jobs;
    for (const lane of lanes) void this.#publish(topic, lane);
  }

  publishMoved(): void {
    this.#known.clear();
    this.#notifications.publishToOtherNodes(LANE_TOPIC.moved, ALL_KEYS);
  }

  /** Notifies all nodes about a lane without an owner. */
  async #publish(topic: string, lane: number): Promise<void> {
    // Of two nodes, the other one is the owner.
    const owner = this.#node.countOthers() > 1 ? await this.#findOwner(lane) : undefined;
    this.#notifications.publishToOtherNodes(topic, String(lane), owner);
  }

  async #findOwner(lane: number): Promise<string | undefined> {
    if (performance.now() - this.#knownSince > OWNER_MS) {
      this.#known.clear();
      this.#knownSince = performance.now();
    }
    const known = this.#known.get(lane);
    if (known !== undefined) return known;
    // Without the database, polling finds the same work later.
    const owner = await this.#owners.load(lane).catch(() => undefined);
    if (owner !== undefined) this.#known.set(lane, owner);
    return owner;
  }
}

/** The owner of each lane; undefined for a lane without one. */
async function findOwners(db: Db, lanes: readonly number[]): Promise<(string | undefined)[]> {
  const { rows } = await sql<{ id: number; owner: string | null }>`${PREPARED_STATEMENT}
    select id, owner from lane where id in (select unnest(${lanes}::bigint[]) ${rowCountHint(lanes)})`.execute(
    db,
  );
  const owners = new Map(rows.map(({ id, owner }) => [id, owner ?? undefined]));
  return lanes.map((lane) => owners.get(lane));
}
