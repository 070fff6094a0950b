import pg from "pg";

export interface HeartbeatConnectionOptions {
  url: string;
  channels: readonly string[];
  /** A statement that takes longer counts as a lost connection. */
  timeoutMs: number;
  onNotification(payload: string): void;
  /** Called when an open connection ends other than by `close`. */
  onLost(): void;
}

/**
 * A connection outside the pool for heartbeats and notifications, so that slow statements cannot delay them.
 */
export class HeartbeatConnection {
  readonly #options: HeartbeatConnectionOptions;
  #client: pg.Client | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: HeartbeatConnectionOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  /** Connects and starts LISTEN; rejects when the database is unavailable. */
  async open(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: "waygate heartbeat",
      connectionTimeoutMillis: this.#options.timeoutMs,
      query_timeout: this.#options.timeoutMs,
      keepAlive: true,
    });
    client.on("error", () => this.#drop(client));
    client.on("end", () => this.#drop(client));
    client.on("notification", (notice) => this.#options.onNotification(notice.payload ?? ""));
    try {
      await client.connect();
      await client.query(this.#options.channels.map((channel) => `listen ${channel}`).join("; "));
      this.#client = client;
    } catch (error) {
      this.#drop(client);
      throw error;
    }
  }

  /**
   * Runs statements sequentially. Any failure rejects and closes the connection. A statement with a name is
   * prepared once per connection.
   */
  query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = [], name?: string): Promise<Row[]> {
    const result = this.#last.then(() => this.#run<Row>({ text, values, ...(name && { name }) }));
    this.#last = result.catch(() => {});
    return result;
  }

  async #run<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<Row[]> {
    const client = this.#client;
    if (!client) throw new Error("Connection terminated");
    try {
      return (await client.query<Row>(statement)).rows;
    } catch (error) {
      this.#drop(client);
      const isSilent = error instanceof Error && error.message === "Query read timeout";
      throw isSilent ? new Error("Connection terminated: no response in time", { cause: error }) : error;
    }
  }

  close(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client) this.#drop(client);
  }

  #drop(client: pg.Client): void {
    const wasOpen = this.#client === client;
    if (wasOpen) this.#client = undefined;
    client.end().catch(() => {});
    if (wasOpen) this.#options.onLost();
  }
}
