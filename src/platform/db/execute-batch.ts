import type pg from "pg";
import { Query } from "pg";

/** A statement as `pg` takes it; it is prepared if it has a name. */
export interface BatchedStatement {
  name?: string | undefined;
  text: string;
  values?: unknown[];
}

/**
 * Executes statements in one round trip and returns their results. If one fails, PostgreSQL skips the others, and
 * the error is that one's.
 */
export function executeBatch(
  client: pg.ClientBase,
  statements: readonly BatchedStatement[],
): Promise<pg.QueryResult[]> {
  return new Promise((resolve, reject) => {
    client.query(new Batch(client, statements, resolve, reject));
  });
}

/** What the client of `pg` calls on the query that it executes. */
interface ProtocolQuery extends pg.Query {
  readonly name: string | undefined;
  readonly text: string;
  submit(connection: pg.Connection): Error | null;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
  handleEmptyQuery(connection: pg.Connection): void;
  handleReadyForQuery(connection: pg.Connection): void;
}

interface StatementConnection extends pg.Connection {
  /** The texts of statements whose preparation is on its way, by name. */
  submittedNamedStatements: Record<string, string>;
  /** The texts of prepared statements, by name. */
  parsedStatements: Record<string, string>;
}

/** To the client it is one query; PostgreSQL reports on its statements one after the other. */
class Batch implements pg.Submittable {
  readonly texts: readonly string[];
  readonly #queries: ProtocolQuery[];
  readonly #results: pg.QueryResult[] = [];
  readonly #resolve: (results: pg.QueryResult[]) => void;
  readonly #reject: (error: Error) => void;
  #position = 0;
  #error: Error | undefined;

  constructor(
    types: pg.CustomTypesConfig,
    statements: readonly BatchedStatement[],
    resolve: (results: pg.QueryResult[]) => void,
    reject: (error: Error) => void,
  ) {
    this.texts = statements.map(({ text }) => text);
    this.#queries = statements.map((statement) => {
      const config = { ...statement, types, queryMode: "extended" };
      return new Query(config, this.#collect as never) as ProtocolQuery;
    });
    this.#resolve = resolve;
    this.#reject = reject;
  }

  #collect = (error: Error | null | undefined, result?: pg.QueryResult): void => {
    if (error) this.#error ??= error;
    else if (result) this.#results.push(result);
  };

  get #current(): ProtocolQuery | undefined {
    return this.#queries[this.#position];
  }

  get name(): string | undefined {
    return this.#current?.name;
  }

  get text(): string | undefined {
    return this.#current?.text;
  }

  /** A single Sync at the end: without it, PostgreSQL would continue after an error. */
  submit = (connection: pg.Connection): null => {
    const unsynced = Object.create(connection, { sync: { value: () => {} } }) as pg.Connection;
    connection.stream.cork();
    for (const query of this.#queries) {
      const error = query.submit(unsynced);
      if (error) this.#collect(error);
      if (this.#error) break;
    }
    connection.sync();
    connection.stream.uncork();
    return null;
  };

  handleRowDescription(message: unknown): void {
    this.#current?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#current?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: pg.Connection): void {
    this.#current?.handleCommandComplete(message, connection);
    this.#position += 1;
  }

  handleEmptyQuery(connection: pg.Connection): void {
    this.#current?.handleEmptyQuery(connection);
    this.#position += 1;
  }

  handleReadyForQuery(connection: StatementConnection): void {
    // The client has closed a statement whose values it could not send.
    const unsent = this.#error && this.name;
    if (unsent) delete connection.parsedStatements[unsent];
    for (const query of this.#queries.slice(0, this.#position)) query.handleReadyForQuery(connection);
    if (this.#error) this.#reject(this.#error);
    else this.#resolve(this.#results);
  }

  /** PostgreSQL has not prepared the statements that it skipped. */
  handleError(error: Error, connection: StatementConnection): void {
    for (const { name } of this.#queries.slice(this.#position))
      if (name !== undefined) delete connection.submittedNamedStatements[name];
    this.#reject(this.#error ?? error);
  }
}
