import { once } from "node:events";
import { createConnection, createServer } from "node:net";
import { expect, it } from "vitest";
import { failedResult } from "./send-results.ts";

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "it worked",
    (error: unknown) => error,
  );
}

it.each([
  ["a port that refuses connections", { host: "127.0.0.1", port: 1 }],
  ["a Unix socket that is not there", { path: "/no/such/directory/.s.PGSQL.5432" }],
])("a send whose database is behind %s was not sent", async (_, address) => {
  const error = await errorOf(once(createConnection(address), "connect"));
  expect(failedResult(error)).toMatchObject({ outcome: "not_sent", is_offline: true });
});

it("a send whose connection to the database broke has an unknown outcome", async () => {
  const server = createServer((socket) => socket.once("data", () => socket.resetAndDestroy())).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const socket = createConnection({ host: "127.0.0.1", port });
  await once(socket, "connect");
  socket.write("a statement");
  const error = await errorOf(once(socket, "end"));
  expect(failedResult(error)).toMatchObject({ outcome: "unknown" });
  server.close();
});
