import type { Db } from "../../platform/db/database.ts";
import type { DatabaseAvailability } from "../cluster/database-availability.ts";
import { findLanesWithJobs } from "../job-store.ts";
import type { OwnedLanes } from "./owned-lanes.ts";

export interface JobPollerOptions {
  db: Db;
  ownedLanes: OwnedLanes;
  availability: DatabaseAvailability;
  everyMs: number;
  isAllowed(): boolean;
}

/** Polls the idle lanes for jobs, because notifications can be lost. */
export class JobPoller {
  readonly #options: JobPollerOptions;
  #next: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: JobPollerOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#isStopped) return;
    this.#next = setTimeout(() => void this.#poll().then(() => this.start()), this.#options.everyMs);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#next);
  }

  async #poll(): Promise<void> {
    const { db, ownedLanes, availability, isAllowed } = this.#options;
    if (!isAllowed()) return;
    const idle: number[] = [];
    for (const work of ownedLanes.all()) {
      const needs = work.nextPollAction();
      if (needs === "ask") idle.push(work.lane.id);
      if (needs === "read") this.#wake(work.lane.id);
    }
    if (idle.length === 0) return;
    try {
      for (const id of await findLanesWithJobs(db, idle)) this.#wake(id);
      availability.recordSuccess();
    } catch (error) {
      availability.recordFailure(error);
    }
  }

  #wake(lane: number): void {
    this.#options.ownedLanes.update(lane, (work) => work.wake());
  }
}
