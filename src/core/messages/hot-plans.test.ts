import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Receiver, startReceiver } from "../../../test/servers/receiver.ts";
import { type NetworkSide, startNetworkSide } from "../../../test/stories/network-side.ts";

const MESSAGES = 15;

const clients = new Set<pg.Client>();
let side: NetworkSide;
let receiver: Receiver;

beforeAll(async () => {
  const { connect } = pg.Client.prototype;
  vi.spyOn(pg.Client.prototype, "connect").mockImplementation(function (
    this: pg.Client,
    ...args: Parameters<typeof connect>
  ) {
    clients.add(this.once("end", () => clients.delete(this)));
    return connect.apply(this, args);
  });
  receiver = await startReceiver();
  side = await startNetworkSide("whatsapp");
});

afterAll(async () => {
  await side.stop();
  await receiver.close();
});

interface PreparedStatement {
  statement: string;
  generic_plans: number;
  custom_plans: number;
}

async function findPreparedStatements(): Promise<PreparedStatement[]> {
  const found = [...clients].map((client) =>
    client.query<PreparedStatement>(
      "select statement, generic_plans, custom_plans from pg_prepared_statements",
    ),
  );
  return (await Promise.all(found)).flatMap(({ rows }) => rows);
}

test("statements that run for single messages keep their plans", async () => {
  const { id, client } = side;
  await client.createWebhook({ id, url: receiver.url, events: ["message.received", "message.delivered"] });
  const person = await side.addPerson("Ana");
  for (let n = 0; n < MESSAGES; n++) {
    await client.sendText({ id, number: person, text: `out ${n}` });
    await receiver.waitFor(({ body }) => body.event === "message.delivered", n + 1);
    await side.receiveText(person, `in ${n}`);
    await receiver.waitFor(({ body }) => body.event === "message.received", n + 1);
  }
  const statements = await findPreparedStatements();
  const kept = statements.filter(({ generic_plans }) => Number(generic_plans) > 0);
  const planned = statements.filter(({ custom_plans }) => Number(custom_plans) > 0);
  expect(planned.map(({ statement }) => statement)).toEqual([]);
  // The number depends on how sends share batches.
  expect(kept.length).toBeGreaterThan(5);
});
