import { withTimeout } from "../platform/limits/with-timeout.ts";
import { createBatchWriter } from "./batch-queue.ts";
import { ClusterMember } from "./cluster/cluster-member.ts";
import { DatabaseAvailability } from "./cluster/database-availability.ts";
import { NODE_TIMING } from "./cluster/failure-detector.ts";
import { ALL_KEYS, NotificationBus } from "./cluster/notification-bus.ts";
import type { EngineOptions, NodeRole } from "./engine-options.ts";
import type { AddedJob } from "./job-store.ts";
import { releaseLanes } from "./lanes/claim-lanes.ts";
import { JobPoller } from "./lanes/job-poller.ts";
import { type JobReservation, LaneDispatcher } from "./lanes/lane-dispatcher.ts";
import type { Lane, LaneKind } from "./lanes/lane-kind.ts";
import { LANE_TOPIC, LaneNotifier } from "./lanes/lane-notifier.ts";
import { LaneRebalancer } from "./lanes/lane-rebalancer.ts";
import { LaneTakeover } from "./lanes/lane-takeover.ts";
import { OwnedLanes, OwnershipCheck } from "./lanes/owned-lanes.ts";

export type { EngineOptions, NodeRole } from "./engine-options.ts";
export type { JobReservation } from "./lanes/lane-dispatcher.ts";
export type { Job, JobResult, Lane, LaneKind } from "./lanes/lane-kind.ts";

/** Runs the jobs of the lanes that this node owns. */
export interface Engine {
  readonly node: { readonly id: string; readonly boot: number };
  /** Whether this node may act: false once the last successful heartbeat is older than `selfFenceMs`. */
  isSafe(): boolean;
  /** Adds a kind of lane. A kind with `prepare` must be added before the start. */
  register(kind: LaneKind): void;
  start(): Promise<void>;
  /** Starts nothing new and releases each lane once it is idle; releases all of them after `graceMs` (10,000). */
  stop(options?: { graceMs?: number }): Promise<void>;
  /**
   * Call after the commit that added jobs to these lanes. `changed`: it changed or removed waiting jobs or the
   * lane itself, so the engine drops its cached state of the lanes and ends their pauses.
   */
  wake(lanes: readonly number[], options?: { changed?: boolean }): void;
  /**
   * Like `wake` after a commit that only added these jobs; a lane of this node runs them without reading them, in a
   * later turn of the event loop. Returns the jobs of other nodes' lanes.
   */
  dispatch<Added extends AddedJob>(jobs: readonly Added[]): Added[];
  /** A place for a job of this group that is about to be committed; undefined if it could not start at once. */
  reserve(lane: number, grp: string): JobReservation | undefined;
  /** A fenced statement did not return this lane: closes it, and claims it again if this node still owns it. */
  markLaneLost(lane: number): void;
  /** The lane, if this node owns it now. */
  findOwnedLane(kind: string, key: string): Lane | undefined;
  /** Restricts the lane to these groups; null runs all groups. Lasts as long as this node owns the lane. */
  limitToGroups(lane: number, only: readonly string[] | null): void;
  /** Starts no further job of the lane for this long, except in the kind's `unpausedGroups`; 0 ends a pause. */
  pauseLane(lane: number, ms: number): void;
  /**
   * Publishes a notification to all nodes, or only to this one and `node`; it can be lost. Subscribers of this
   * node run before this returns and also receive `detail`.
   */
  publish(topic: string, key: string, detail?: unknown, node?: string): void;
  /** Subscribes to notifications; the key `*` means "check everything". Returns the unsubscribe function. */
  subscribe(topic: string, listener: (key: string, detail?: unknown) => void): () => void;
  /** Whether a node with this role has a fresh heartbeat. */
  hasLiveNode(role: NodeRole): Promise<boolean>;
  /** Number of nodes with this role and a fresh heartbeat that this node knows; at least 1. */
  countLiveNodes(role: NodeRole): number;
  /** Number of running jobs. */
  inFlight(): number;
}

/** Creates the engine of one node; it does nothing before `start`. */
export function createEngine(options: EngineOptions): Engine {
  return new LaneEngine(options);
}

const CHECK_EVERY_HEARTBEATS = 10;
const BALANCE_EVERY_HEARTBEATS = 5;
const DEFAULT_GRACE_MS = 10_000;
const LETTING_GO_MS = 2_000;

class LaneEngine implements Engine {
  readonly #options: EngineOptions;
  readonly #availability: DatabaseAvailability;
  readonly #dispatchers = new Map<string, LaneDispatcher>();
  readonly #owned: OwnedLanes;
  readonly #node: ClusterMember;
  readonly #notifications: NotificationBus;
  readonly #laneNotifier: LaneNotifier;
  readonly #takeover: LaneTakeover;
  readonly #poll: JobPoller;
  readonly #ownership: OwnershipCheck;
  readonly #balance: LaneRebalancer;
  #state: "new" | "started" | "stopping" = "new";
  #startedAt = 0;
  #heartbeats = 0;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#availability = new DatabaseAvailability(options.log, "engine");
    this.#node = this.#createNode();
    this.#notifications = this.#createNotifications();
    this.#laneNotifier = new LaneNotifier(options.database.db, this.#notifications, this.#node);
    this.#takeover = this.#createTakeover();
    this.#owned = new OwnedLanes(options.log, this.#dispatchers, () => this.#takeover.recheckOwnership());
    const shared = { db: options.database.db, ownedLanes: this.#owned, availability: this.#availability };
    this.#balance = new LaneRebalancer({
      ...shared,
      node: options.node_id,
      log: options.log,
      handoverGraceMs: options.handoverGraceMs ?? 10_000,
      kinds: () => [...this.#dispatchers.values()].map(({ kind }) => kind),
      others: (role) => this.#node.bootsOfOthers(role),
      whenClaimed: () => this.#takeover.whenClaimed(),
      notifyOthers: () => this.#laneNotifier.publishMoved(),
      recheckOwnership: () => this.#takeover.recheckOwnership(),
    });
    this.#poll = new JobPoller({
      ...shared,
      everyMs: options.pollMs ?? 1_000,
      isAllowed: () => this.#mayAct(),
    });
    this.#ownership = new OwnershipCheck({
      ...shared,
      node: options.node_id,
      kinds: () => [...this.#dispatchers.keys()],
      isPredecessorGone: () => this.#isPredecessorGone(),
    });
  }

  get node(): { id: string; boot: number } {
    return this.#node;
  }

  isSafe(): boolean {
    return this.#node.isSafe();
  }

  register(kind: LaneKind): void {
    if (this.#dispatchers.has(kind.kind)) throw new Error(`lane kind ${kind.kind} is registered twice`);
    if (!this.#options.roles.includes(kind.role)) return;
    const dispatcher = new LaneDispatcher(kind, {
      db: this.#options.database.db,
      node: this.#options.node_id,
      log: this.#options.log,
      availability: this.#availability,
      mayStart: () => this.#mayAct(),
      onLost: (work) => void this.#owned.close(work),
    });
    this.#dispatchers.set(kind.kind, dispatcher);
    if (this.#state === "started") this.#takeover.scanAll();
  }

  async start(): Promise<void> {
    if (this.#state !== "new") throw new Error("the engine has been started already");
    this.#startedAt = performance.now();
    await this.#node.start();
    try {
      for (const { kind } of this.#dispatchers.values()) await kind.prepare?.();
    } catch (error) {
      await this.#node.stop();
      throw error;
    }
    this.#state = "started";
    this.#takeover.scanAll();
    this.#poll.start();
  }

  async stop({ graceMs = DEFAULT_GRACE_MS }: { graceMs?: number } = {}): Promise<void> {
    if (this.#state !== "started") return;
    this.#state = "stopping";
    this.#poll.stop();
    await this.#takeover.stop();
    const returns = createBatchWriter({ write: (lanes: number[]) => this.#releaseLanes(lanes) });
    const whenClosed = this.#owned.closeWhenIdle((lane) => returns.write(lane));
    await withTimeout(whenClosed, graceMs);
    await withTimeout(this.#owned.closeAll(), LETTING_GO_MS);
    await this.#releaseLanes();
    await this.#node.stop(() => this.#notifications.flush());
  }

  wake(lanes: readonly number[], { changed = false }: { changed?: boolean } = {}): void {
    if (this.#state !== "started") return;
    const foreign = this.#wakeOwned(lanes, changed);
    this.#laneNotifier.publish(foreign, changed);
    this.#takeover.scan(foreign);
  }

  dispatch<Added extends AddedJob>(jobs: readonly Added[]): Added[] {
    if (this.#state !== "started") return [...jobs];
    const foreign = jobs.filter((job) => !this.#owned.update(job.lane, (work) => work.add(job)));
    this.wake(foreign.map(({ lane }) => lane));
    return foreign;
  }

  reserve(lane: number, grp: string): JobReservation | undefined {
    return this.#owned.reserve(lane, grp);
  }

  markLaneLost(lane: number): void {
    const work = this.#owned.get(lane);
    if (work) void this.#owned.close(work);
  }

  findOwnedLane(kind: string, key: string): Lane | undefined {
    return this.#owned.laneOf(kind, key);
  }

  limitToGroups(lane: number, only: readonly string[] | null): void {
    this.#owned.update(lane, (work) => work.limitToGroups(only));
  }

  pauseLane(lane: number, ms: number): void {
    this.#owned.update(lane, (work) => work.pause(ms));
  }

  publish(topic: string, key: string, detail?: unknown, node?: string): void {
    this.#notifications.publish(topic, key, detail, node);
  }

  subscribe(topic: string, listener: (key: string, detail?: unknown) => void): () => void {
    return this.#notifications.subscribe(topic, listener);
  }

  async hasLiveNode(role: NodeRole): Promise<boolean> {
    return this.#state === "started" && this.#node.hasLiveNode(role);
  }

  countLiveNodes(role: NodeRole): number {
    return Math.max(1, this.#node.countLiveNodes(role));
  }

  inFlight(): number {
    return [...this.#dispatchers.values()].reduce((sum, dispatcher) => sum + dispatcher.inFlight, 0);
  }

  /** Releases these lanes, or all. A lane that cannot be released now stays with this node until it is dead. */
  async #releaseLanes(only?: number[]): Promise<undefined[]> {
    const { database, node_id } = this.#options;
    await releaseLanes(database.db, node_id, only && { only }).catch((error) =>
      this.#availability.recordFailure(error),
    );
    this.#laneNotifier.publishMoved();
    return (only ?? []).map(() => undefined);
  }

  #mayAct(): boolean {
    return this.#state === "started" && this.#node.isSafe();
  }

  /** Returns the lanes that this node does not own. */
  #wakeOwned(lanes: readonly number[], changed: boolean): number[] {
    const foreign = lanes.filter((lane) => !this.#owned.update(lane, (work) => work.wake(changed)));
    if (changed) void this.#ownership.check(lanes.flatMap((lane) => this.#owned.get(lane) ?? []));
    return foreign;
  }

  #received(key: string, changed: boolean): void {
    if (this.#state !== "started") return;
    const isAboutAll = key === ALL_KEYS;
    const foreign = this.#wakeOwned(isAboutAll ? this.#owned.ids() : [Number(key)], changed);
    if (isAboutAll) this.#takeover.scanAll();
    else this.#takeover.scan(foreign);
  }

  #heartbeat(): void {
    if (this.#state !== "started") return;
    this.#heartbeats += 1;
    for (const dispatcher of this.#dispatchers.values()) dispatcher.dispatch();
    this.#takeover.scanAll();
    if (this.#heartbeats % CHECK_EVERY_HEARTBEATS === 1) void this.#ownership.checkAll();
    if (this.#heartbeats % BALANCE_EVERY_HEARTBEATS === 0) void this.#balance.check();
  }

  // If it still runs, its next heartbeat fails because this node has started, and it has fenced itself by
  // this time.
  #isPredecessorGone(): boolean {
    const { claimImmediately, deadAfterMs = NODE_TIMING.deadAfterMs } = this.#options;
    return claimImmediately || performance.now() - this.#startedAt >= deadAfterMs;
  }

  #createNode(): ClusterMember {
    const { database, log, node_id, roles, url = null } = this.#options;
    const { heartbeatMs, deadAfterMs, selfFenceMs } = { ...NODE_TIMING, ...this.#options };
    const times = { heartbeatMs, deadAfterMs, selfFenceMs };
    return new ClusterMember({
      database,
      log,
      id: node_id,
      roles,
      url,
      ...times,
      onHeartbeat: () => this.#heartbeat(),
      onUnsafe: () => void this.#owned.closeAll(),
      onNotice: (payload) => this.#notifications.receiveNotification(payload),
      onConnected: () => this.#notifications.notifyAll(),
    });
  }

  #createNotifications(): NotificationBus {
    const notifications = new NotificationBus({
      node: this.#options.node_id,
      from: `${this.#options.node_id} ${process.pid} ${performance.now()}`,
      send: (notices) => this.#node.notify(notices),
      hasOtherNodes: () => this.#node.countOthers() > 0,
      log: this.#options.log,
    });
    notifications.subscribe(LANE_TOPIC.jobs, (key) => this.#received(key, false));
    notifications.subscribe(LANE_TOPIC.changed, (key) => this.#received(key, true));
    notifications.subscribe(LANE_TOPIC.moved, () => this.#state === "started" && this.#takeover.scanAll());
    return notifications;
  }

  #createTakeover(): LaneTakeover {
    const { database, node_id } = this.#options;
    return new LaneTakeover({
      db: database.db,
      node: node_id,
      availability: this.#availability,
      kinds: () => [...this.#dispatchers.keys()],
      dead: () => this.#node.dead(),
      ownedIds: () => this.#owned.ids(),
      excluded: () => [...this.#owned.closing(), ...this.#balance.handedOver()],
      currentBoot: () => (this.#mayAct() ? this.#node.boot : undefined),
      isPredecessorGone: () => this.#isPredecessorGone(),
      claim: (lanes) => this.#owned.claim(lanes),
    });
  }
}
