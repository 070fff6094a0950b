import { afterAll, beforeAll, expect, test } from "vitest";
import { buildDist } from "../build-dist.ts";
import { newPhone, waitUntil } from "../gateway.ts";
import { sendAll } from "./send-history.ts";
import { startWhatsAppStory, type WhatsAppStory } from "./whatsapp-story.ts";

beforeAll(buildDist);

const PEOPLE = 5;
const SENDS = 40;

let on: WhatsAppStory;
let people: string[];

beforeAll(async () => {
  on = await startWhatsAppStory();
  people = [];
  for (let n = 0; n < PEOPLE; n++)
    people.push((await on.network.control.addPerson({ phone: newPhone() })).phone);
  await on.start();
  await on.pair();
  await on.client().updateDefaultWebhook({ id: on.instance.id, events: ["message.*", "message.delivered"] });
});

afterAll(() => on.end());

interface ReportedMessage {
  status: string;
  /** Names of its events in their order. */
  events: string[];
}

async function readReported(messageIds: string[]): Promise<ReportedMessage[]> {
  return on.story.rows<ReportedMessage>(
    `select m.status, (
       select array_agg(e.event order by e.sequence) from event e
       where e.instance_id = m.instance_id
         and convert_from(e.body, 'UTF8')::jsonb #>> '{data,message,message_id}' = m.message_id) as events
     from message m where m.message_id = any($1) order by m.id`,
    messageIds,
  );
}

test.each(["report:before-commit", "report:after-commit"])(
  "a kill at %s loses and repeats no acknowledgement and no receipt",
  async (point) => {
    const { story, instance } = on;
    await story.gateway.kill();
    const { exited } = await story.start({ WAYGATE_FAULT_POINT: `${point}:2` });
    await on.online();
    const plan = Array.from({ length: SENDS }, (_, n) => ({
      text: `${point}-${n}`,
      number: people[n % PEOPLE] ?? "",
    }));
    const sending = sendAll(story, instance, plan);
    expect((await exited).signal).toBe("SIGKILL");
    await on.start();
    const ids = (await sending).map(({ message_id }) => message_id);
    await waitUntil(
      async () => (await readReported(ids)).every(({ status }) => status === "delivered"),
      60_000,
    );
    await story.drained();
    const reported = await readReported(ids);
    expect(reported).toEqual(
      Array.from({ length: SENDS }, () => ({
        status: "delivered",
        events: ["message.sent", "message.delivered"],
      })),
    );
    const [{ last, count } = {}] = await story.rows<{ last: number; count: number }>(
      "select max(sequence) as last, count(*) as count from event where instance_id = $1",
      instance.id,
    );
    expect(count).toBe(last);
  },
);
