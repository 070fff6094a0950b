/** The right to work, until it is released. */
export interface Slot {
  /** Only the first call counts. */
  release(): void;
  /** Adds to the weight without a wait; returns whether the limit allows it. */
  tryGrow(weight: number): boolean;
}

export interface SemaphoreOptions {
  /** Weight of all running work together; no limit if absent. */
  limit?: number;
  /** The same per key, so that the slow work of one key leaves slots to the others. */
  limitPerKey?: number;
}

export interface SlotRequest {
  /** Whose work it is: the key with the least running work goes first, and equal ones take turns. */
  key?: unknown;
  /** 1 by default; work heavier than the limit runs alone. */
  weight?: number;
  /** Within a key, the highest goes first, and equal ones go in the order of their arrival. */
  priority?: number;
  /** Ends the wait for a slot. */
  signal?: AbortSignal;
}

interface QueuedSlot {
  key: unknown;
  weight: number;
  priority: number;
  start(slot: Slot): void;
}

/** Limits concurrent work, in total and per key. It remembers only keys with running or waiting work. */
export class Semaphore {
  readonly #limit: number;
  readonly #limitPerKey: number;
  /** In the order of their turns. */
  readonly #queues = new Map<unknown, QueuedSlot[]>();
  readonly #running = new Map<unknown, number>();
  #used = 0;

  constructor({ limit = Number.POSITIVE_INFINITY, limitPerKey = limit }: SemaphoreOptions) {
    this.#limit = limit;
    this.#limitPerKey = limitPerKey;
  }

  /** Weight of the running work. */
  get used(): number {
    return this.#used;
  }

  /** Number of requests that wait, for one key. */
  countWaiting(key?: unknown): number {
    return this.#queues.get(key)?.length ?? 0;
  }

  /** Runs the work once a slot is free, and frees the slot when the work ends. */
  async use<T>(work: () => Promise<T> | T, request: SlotRequest = {}): Promise<T> {
    request.signal?.throwIfAborted();
    const slot = this.tryAcquire(request) ?? (await this.acquire(request));
    try {
      return await work();
    } finally {
      slot.release();
    }
  }

  /** Waits for a slot. Rejects if the signal aborts during the wait. */
  acquire(request: SlotRequest = {}): Promise<Slot> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const giveUp = () => {
        this.#withdraw(queued);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      const queued = this.#enqueue(request, (slot) => {
        signal?.removeEventListener("abort", giveUp);
        resolve(slot);
      });
    });
  }

  /** Takes a slot, or returns undefined if it would have to wait for one. */
  tryAcquire(request: SlotRequest = {}): Slot | undefined {
    let taken: Slot | undefined;
    const queued = this.#enqueue(request, (slot) => {
      taken = slot;
    });
    if (!taken) this.#withdraw(queued);
    return taken;
  }

  #enqueue({ key, weight = 1, priority = 0 }: SlotRequest, start: QueuedSlot["start"]): QueuedSlot {
    const queued = { key, weight, priority, start };
    const queue = this.#queues.get(key) ?? [];
    const behind = queue.findLastIndex((one) => one.priority >= priority);
    queue.splice(behind + 1, 0, queued);
    this.#queues.set(key, queue);
    this.#startNext();
    return queued;
  }

  #withdraw(queued: QueuedSlot): void {
    this.#dequeue(queued);
    this.#startNext();
  }

  #dequeue(queued: QueuedSlot): void {
    const queue = this.#queues.get(queued.key) ?? [];
    queue.splice(queue.indexOf(queued), 1);
    if (queue.length === 0) this.#queues.delete(queued.key);
  }

  #startNext(): void {
    // Lighter work does not overtake, or heavy work would never start.
    for (let next = this.#findNext(); next && fits(next, this.#used, this.#limit); next = this.#findNext()) {
      this.#dequeue(next);
      this.#endTurn(next.key);
      this.#change(next, next.weight);
      next.start(this.#createSlot(next));
    }
  }

  #endTurn(key: unknown): void {
    const queue = this.#queues.get(key);
    if (!queue) return;
    this.#queues.delete(key);
    this.#queues.set(key, queue);
  }

  #createSlot(running: QueuedSlot): Slot {
    return {
      release: () => {
        this.#change(running, -running.weight);
        running.weight = 0;
        this.#startNext();
      },
      tryGrow: (weight) => {
        const isAlone = this.#used === running.weight;
        if (!isAlone && this.#used + weight > this.#limit) return false;
        this.#change(running, weight);
        running.weight += weight;
        return true;
      },
    };
  }

  #findNext(): QueuedSlot | undefined {
    let next: QueuedSlot | undefined;
    for (const [first] of this.#queues.values()) {
      if (!first || !fits(first, this.#runningOf(first), this.#limitPerKey)) continue;
      if (!next || this.#runningOf(first) < this.#runningOf(next)) next = first;
    }
    return next;
  }

  #runningOf({ key }: QueuedSlot): number {
    return this.#running.get(key) ?? 0;
  }

  #change(queued: QueuedSlot, by: number): void {
    const running = this.#runningOf(queued) + by;
    if (running > 0) this.#running.set(queued.key, running);
    else this.#running.delete(queued.key);
    this.#used += by;
  }
}

function fits({ weight }: QueuedSlot, used: number, limit: number): boolean {
  return used === 0 || used + weight <= limit;
}
