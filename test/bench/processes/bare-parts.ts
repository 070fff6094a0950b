import { fastify } from "fastify";
import pg from "pg";
import { Agent } from "undici";
import { type LoadFigures, runClosedLoop } from "../closed-loop.ts";
import { serveRequests } from "./bench-process.ts";

export type BareParts = typeof handlers;

const PATH = "/send-text";

/** The parts that a gateway is made of, without a gateway. */
const handlers = {
  /** A route that parses JSON and returns some; returns the URL of its server. */
  async serve(_: null): Promise<string> {
    const server = fastify();
    server.post(PATH, async () => ({ success: true, data: { message_id: "3EB0", status: "sent" } }));
    return server.listen({ host: "127.0.0.1", port: 0 });
  },

  /** Requests of this size, over so many connections, to each of the servers in turn. */
  async post(load: {
    origins: string[];
    bytes: number;
    connections: number;
    seconds: number;
  }): Promise<LoadFigures> {
    const { origins } = load;
    const agent = new Agent({ connections: Math.ceil(load.connections / origins.length) });
    const body = JSON.stringify({ text: "x".repeat(load.bytes) });
    const headers = { "content-type": "application/json" };
    return runClosedLoop(load, async (n) => {
      const response = await agent.request({
        origin: origins[n % origins.length] ?? "",
        path: PATH,
        method: "POST",
        headers,
        body,
      });
      await response.body.dump();
    });
  },

  /** One row of 500 characters and one commit each. */
  async insert(load: { databaseUrl: string; connections: number; seconds: number }): Promise<LoadFigures> {
    const pool = new pg.Pool({ connectionString: load.databaseUrl, max: load.connections });
    await pool.query(
      "create table if not exists bench_row (id bigint generated always as identity, text text)",
    );
    const statement = { name: "insert", text: "insert into bench_row (text) values ($1)" };
    const values = ["x".repeat(500)];
    const figures = await runClosedLoop(load, () => pool.query({ ...statement, values }));
    await pool.end();
    return figures;
  },
};

serveRequests(handlers);
