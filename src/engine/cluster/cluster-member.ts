import { performance } from "node:perf_hooks";
import type { Database } from "../../platform/db/database.ts";
import type { Log } from "../../platform/log/log.ts";
import { DatabaseAvailability } from "./database-availability.ts";
import { FailureDetector, type NodeRow } from "./failure-detector.ts";
import { HeartbeatConnection } from "./heartbeat-connection.ts";
import { channelOf, NOTIFY_CHANNEL, type Notice } from "./notification-bus.ts";

export interface ClusterMemberOptions {
  /** Heartbeats use their own connection. When it fails, the pool's connections are checked as well. */
  database: Pick<Database, "url" | "checkConnections">;
  log: Log;
  id: string;
  roles: readonly string[];
  url: string | null;
  heartbeatMs: number;
  deadAfterMs: number;
  selfFenceMs: number;
  /** Called after each successful heartbeat. */
  onHeartbeat(): void;
  /** This boot must stop acting: other nodes declared it dead, or its last successful heartbeat is too old. */
  onUnsafe(): void;
  onNotice(payload: string): void;
  /** The connection is open (again); earlier notifications are lost. */
  onConnected(): void;
}

/** This node as a cluster member: sends and reads heartbeats, and decides when it must stop acting. */
export class ClusterMember {
  readonly id: string;
  boot = 0;
  /** A later boot of the same process already holds the memory of its sessions. */
  readonly #memoryAtStart = process.memoryUsage.rss();
  readonly #options: ClusterMemberOptions;
  readonly #watch: FailureDetector;
  readonly #connection: HeartbeatConnection;
  readonly #availability: DatabaseAvailability;
  /** Timeout of a heartbeat statement. */
  readonly #timeoutMs: number;
  #lastHeartbeatAt = Number.NEGATIVE_INFINITY;
  #isIn = false;
  #isStopping = false;
  #isHeartbeatRunning = false;
  #fence: NodeJS.Timeout | undefined;
  #suspicion: NodeJS.Timeout | undefined;
  #next: NodeJS.Timeout | undefined;
  #runningHeartbeat: Promise<void> = Promise.resolve();

  constructor(options: ClusterMemberOptions) {
    this.id = options.id;
    this.#options = options;
    this.#timeoutMs = Math.max(options.heartbeatMs, 1_000);
    this.#watch = new FailureDetector(options.id, options.deadAfterMs);
    this.#availability = new DatabaseAvailability(options.log, "heartbeat");
    this.#connection = new HeartbeatConnection({
      url: options.database.url,
      channels: [NOTIFY_CHANNEL, channelOf(options.id)],
      timeoutMs: this.#timeoutMs,
      onNotification: options.onNotice,
      onLost: () => this.#scheduleHeartbeat(0),
    });
  }

  /** Whether the last heartbeat is recent enough that no other node can have declared this node dead. */
  isSafe(): boolean {
    return this.#isIn && performance.now() - this.#lastHeartbeatAt < this.#options.selfFenceMs;
  }

  /** Number of other nodes with a fresh heartbeat. */
  countOthers(): number {
    return this.#watch.alive(performance.now()).length;
  }

  hasLiveNode(role: string): boolean {
    return this.countLiveNodes(role) > 0;
  }

  countLiveNodes(role: string): number {
    const self = this.isSafe() && this.#options.roles.includes(role) ? 1 : 0;
    return self + this.bootsOfOthers(role).length;
  }

  /** One name per boot of each other node that has this role and a fresh heartbeat. */
  bootsOfOthers(role: string): string[] {
    return this.#watch.alive(performance.now(), role).map(({ id, boot }) => `${id} ${boot}`);
  }

  /** Nodes declared dead. */
  dead(): string[] {
    return this.#watch.dead();
  }

  /** Rejects when the database is unavailable. */
  async start(): Promise<void> {
    try {
      await this.#heartbeat();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#scheduleHeartbeat(this.#options.heartbeatMs);
  }

  async notify(notices: readonly Notice[]): Promise<void> {
    await this.#connection.query(
      "select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as notice (channel, payload)",
      [notices.map(({ channel }) => channel), notices.map(({ payload }) => payload)],
      "notify",
    );
  }

  /** Stops the heartbeat and records in the database that this boot has ended. */
  async stop(beforeLeaving?: () => Promise<void>): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#next);
    clearTimeout(this.#fence);
    await this.#runningHeartbeat;
    if (this.#isIn) await this.#leave(beforeLeaving);
    this.#isIn = false;
    this.#connection.close();
  }

  async #leave(beforeLeaving?: () => Promise<void>): Promise<void> {
    try {
      await this.#connection.query("update node set dead = true where id = $1 and boot = $2", [
        this.id,
        this.boot,
      ]);
      await beforeLeaving?.();
    } catch (error) {
      this.#availability.recordFailure(error);
    }
  }

  #scheduleHeartbeat(delayMs: number): void {
    // A running heartbeat schedules the next one itself.
    if (this.#isStopping || this.#isHeartbeatRunning) return;
    clearTimeout(this.#next);
    this.#next = setTimeout(() => {
      this.#runningHeartbeat = this.#heartbeatAgain();
    }, delayMs);
  }

  async #heartbeatAgain(): Promise<void> {
    this.#isHeartbeatRunning = true;
    const delayMs = await this.#tryHeartbeat();
    this.#isHeartbeatRunning = false;
    this.#scheduleHeartbeat(delayMs);
  }

  /** Returns the milliseconds until the next heartbeat. */
  async #tryHeartbeat(): Promise<number> {
    const startedAt = performance.now();
    try {
      await this.#heartbeat();
      this.#availability.recordSuccess();
      return Math.max(0, this.#options.heartbeatMs - (performance.now() - startedAt));
    } catch (error) {
      this.#watch.reset();
      this.#availability.recordFailure(error);
      this.#suspectOthers();
      return Math.min(this.#options.heartbeatMs, 500);
    }
  }

  async #heartbeat(): Promise<void> {
    const isNew = !this.#connection.isOpen;
    if (isNew) await this.#connection.open();
    if (!this.#isIn || !(await this.#renew())) await this.#enter();
    await this.#observe();
    if (isNew) this.#options.onConnected();
    this.#options.onHeartbeat();
  }

  async #renew(): Promise<boolean> {
    const sentAt = performance.now();
    const rows = await this.#connection.query(
      "update node set heartbeat = heartbeat + 1, memory = $3 where id = $1 and boot = $2 and not dead returning heartbeat",
      [this.id, this.boot, process.memoryUsage.rss()],
    );
    if (rows.length > 0) this.#good(sentAt);
    else this.#over();
    return rows.length > 0;
  }

  #over(): void {
    this.#isIn = false;
    this.#options.log.error(
      { node: this.id, boot: this.boot },
      "this node was declared dead; it starts as a new boot",
    );
    this.#options.onUnsafe();
  }

  async #enter(): Promise<void> {
    const sentAt = performance.now();
    const [row] = await this.#connection.query<{ boot: number }>(
      `insert into node (id, boot, roles, url, memory, memory_at_start) values ($1, $2, $3, $4, $5, $5)
       on conflict (id) do update set boot = greatest(node.boot + 1, excluded.boot), heartbeat = node.heartbeat + 1, dead = false,
         roles = excluded.roles, url = excluded.url, started_at = now(),
         memory = excluded.memory, memory_at_start = excluded.memory_at_start
       returning boot`,
      [this.id, this.boot + 1, this.#options.roles, this.#options.url, this.#memoryAtStart],
    );
    if (!row) throw new Error("the row of this node was neither inserted nor updated");
    this.boot = row.boot;
    this.#isIn = true;
    this.#good(sentAt);
    this.#options.log.info({ node: this.id, boot: this.boot }, "node started");
  }

  #good(sentAt: number): void {
    this.#lastHeartbeatAt = sentAt;
    this.#watchOver();
  }

  #watchOver(): void {
    clearTimeout(this.#fence);
    const leftMs = this.#lastHeartbeatAt + this.#options.selfFenceMs - performance.now();
    this.#fence = setTimeout(() => this.#fenceOff(), Math.max(1, Math.ceil(leftMs)));
  }

  #fenceOff(): void {
    // A timer can be early by a fraction of a millisecond.
    if (this.isSafe()) this.#watchOver();
    else if (this.#isIn) this.#close();
  }

  #close(): void {
    const heartbeat_age_ms = Math.round(performance.now() - this.#lastHeartbeatAt);
    this.#options.log.error(
      { node: this.id, boot: this.boot, heartbeat_age_ms },
      "no successful heartbeat; all lanes are closed",
    );
    this.#options.onUnsafe();
  }

  /** A connection that was lost silently would block its statement and all statements queued behind it. */
  #suspectOthers(): void {
    if (this.#suspicion) return;
    const cutSilent = this.#options.database.checkConnections();
    this.#suspicion = setTimeout(() => {
      this.#suspicion = undefined;
      cutSilent();
    }, this.#timeoutMs).unref();
  }

  async #observe(): Promise<void> {
    const sentAt = performance.now();
    const rows = await this.#connection.query<NodeRow>(
      "select id, boot, heartbeat::float8, dead, roles from node",
    );
    for (const node of this.#watch.observe(rows, sentAt, performance.now())) await this.#declareDead(node);
  }

  async #declareDead(node: NodeRow): Promise<void> {
    const rows = await this.#connection.query(
      "update node set dead = true where id = $1 and boot = $2 and heartbeat = $3 and not dead returning id",
      [node.id, node.boot, node.heartbeat],
    );
    if (rows.length === 0) return;
    this.#watch.declaredDead(node.id);
    this.#options.log.warn({ node: node.id, boot: node.boot }, "node is dead; its lanes are being claimed");
  }
}
