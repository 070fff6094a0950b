import { afterAll, beforeAll, expect, test } from "vitest";
import { WaygateError } from "../../src/client/client.ts";
import { buildDist } from "../build-dist.ts";
import { newPhone, waitUntil } from "../gateway.ts";
import { startWhatsAppStory, type WhatsAppStory } from "./whatsapp-story.ts";

beforeAll(buildDist);

let on: WhatsAppStory;

beforeAll(async () => {
  on = await startWhatsAppStory({ env: { WAYGATE_ACK_TIMEOUT: "5s", WAYGATE_DOUBT_WAIT: "2s" } });
  // No receipt reports the message either.
  await on.network.control.settings({ receiptDelayMs: 600_000 });
  await on.start();
  await on.pair();
});

afterAll(() => on.end());

test("a sync send with a lost acknowledgement keeps id and key over kill -9, and is sent", async () => {
  const { id } = on.instance;
  const { phone: number } = await on.network.control.addPerson({ phone: newPhone() });
  await on.network.control.fault({ fault: "ack_lost", to: number, times: 1 });
  const send = () => on.client().sendText({ id, number, text: "Once" }, { idempotencyKey: "killed" });
  const pending = send().catch((error: unknown) => error);
  const submitted = () =>
    on.story.rows<{ message_id: string }>(
      "select message_id from message where jid like $1 and submitted_at is not null",
      `${number}@%`,
    );
  await waitUntil(async () => {
    const [row] = await submitted();
    return row && (await on.network.control.arrivals(row.message_id)) === 1;
  });
  await on.story.gateway.kill("SIGKILL");
  await pending;
  await on.start();
  await on.online();

  let answer: Awaited<ReturnType<typeof send>> | undefined;
  await waitUntil(async () => {
    answer = await send().catch((error: unknown) => {
      if (error instanceof WaygateError && ["IDEMPOTENCY_IN_PROGRESS", "SEND_TIMEOUT"].includes(error.code))
        return undefined;
      throw error;
    });
    return answer;
  });
  const [row] = await submitted();
  expect(answer?.data).toMatchObject({ message_id: row?.message_id, status: "sent" });
  expect(await submitted()).toHaveLength(1);
  expect(await on.network.control.arrivals(row?.message_id ?? "")).toBe(2);
});
