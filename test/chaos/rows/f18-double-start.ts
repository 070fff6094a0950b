import { HOST_LOCK_CLASS } from "../../../src/network/sandbox/pairing/host-lock.ts";
import { planSends, readStoryLedgers, sendAll, toClientSends } from "../../e2e/send-history.ts";
import { createSyncClients } from "../../e2e/sync-clients.ts";
import { startWhatsAppStory } from "../../e2e/whatsapp-story.ts";
import { waitUntil } from "../../gateway.ts";
import { makeScratchDir } from "../../run/scratch-dir.ts";
import type { ChaosRow, Round, RoundFigures } from "../chaos-row.ts";
import { addUp, atMost, IN_FLIGHT, toRoundFigures } from "../report.ts";
import { readWhatsApp } from "../whatsapp-ledger.ts";

const USUAL_WAIT = "60s";
const SETTLED_SECONDS = 90;
const UNDECIDED = "select from message where direction = 'outbound' and outcome_at is null";

export const f18: ChaosRow = {
  id: "F18",
  fault: "two owners of one session: nodes that start together, an owner that stands still and wakes",
  async run(round) {
    return addUp([await startTogether(round), await freezeOwner(round)]);
  },
};

/** Three nodes start at once with a paired instance and pending sends, some with an unknown outcome. */
async function startTogether(round: Round): Promise<RoundFigures> {
  const story = await round.story({ WAYGATE_UNKNOWN_OUTCOME_WAIT: USUAL_WAIT });
  await story.start();
  const instance = await story.pair();
  const sending = sendAll(story, instance, planSends("together", 60, 6));
  await waitUntil(() => story.receiver.of("message.sent").length > 3, 60_000);
  await story.gateway.kill();
  const killedAt = performance.now();
  // The kernel keeps the connection of a killed process until the network notices.
  const held = "select from pg_locks where locktype = 'advisory' and classid = $1 and database = $2";
  const [here] = await story.rows<{ oid: number }>(
    "select oid from pg_database where datname = current_database()",
  );
  await waitUntil(async () => (await story.rows(held, HOST_LOCK_CLASS, here?.oid)).length === 0, 60_000);
  const places = await Promise.all([1, 2].map(() => makeScratchDir("waygate-e2e-")));
  for (const { remove } of places) round.afterwards(remove);
  const others = places.map(({ path }) => story.launch({ WAYGATE_DATA_DIR: path }));
  round.afterwards(() => Promise.all(others.map((other) => other.kill())));
  await Promise.all([story.start(), ...others.map(({ listening }) => listening)]);
  const accepted = await sending;
  await waitUntil(async () => (await story.rows(UNDECIDED)).length === 0, 300_000);
  const settledSeconds = (performance.now() - killedAt) / 1000;
  const ledgers = await readStoryLedgers(story, { sends: toClientSends(accepted) });
  const [row] = await story.rows<{ open: number }>("select max(open) as open from sandbox.ledger");
  const figures = toRoundFigures(ledgers, { ...IN_FLIGHT, kills: 1 });
  return {
    ...figures,
    times: [{ what: "every send is decided after", seconds: settledSeconds, bar: SETTLED_SECONDS }],
    breaches: [
      ...figures.breaches,
      ...atMost(1, "open sockets of a session with nodes that start together", row?.open ?? 0),
    ],
  };
}

/** Freezes the owner until another node has its session, and resumes it while that one sends. */
export async function freezeOwner(round: Round): Promise<RoundFigures> {
  const on = await startWhatsAppStory({ server: round.databaseUrl });
  round.afterwards(() => on.end());
  const { story } = on;
  const { control } = on.network;
  const people: string[] = [];
  for (let i = 0; i < 6; i++) people.push((await control.addPerson()).phone);
  await on.start();
  await on.pair();
  const frozen = story.gateway;
  const { path: WAYGATE_DATA_DIR, remove } = await makeScratchDir("waygate-e2e-");
  round.afterwards(remove);
  await story.start({ WAYGATE_DATA_DIR });
  const plan = Array.from({ length: 180 }, (_, i) => ({ text: `frozen-${i}`, number: people[i % 6] ?? "" }));
  const sending = sendAll(story, on.instance, plan);
  // The clients of the frozen node continue when it resumes.
  const clients = createSyncClients(on, people);
  let isOver = false;
  const syncing = clients.send(
    "sync",
    () => frozen.url,
    () => isOver,
  );
  await waitUntil(() => story.receiver.of("message.sent").length > 10 && clients.count() > 10, 60_000);
  const owner = "select owner from lane where kind = 'session'";
  const ownerNow = async () => (await story.rows<{ owner: string | null }>(owner))[0]?.owner;
  const before = await ownerNow();
  const logins = async () =>
    (await control.ledger()).sockets.filter(({ phone }) => phone === on.instance.phone);
  const loginsBefore = (await logins()).length;
  const frozenAt = performance.now();
  process.kill(frozen.pid, "SIGSTOP");
  const taking = waitUntil(async () => (await ownerNow()) !== before).then(
    () => (performance.now() - frozenAt) / 1000,
  );
  // A client that called the frozen node would wait as long.
  const accepted = await sending;
  const takeOverSeconds = await taking;
  await waitUntil(async () => (await logins()).length > loginsBefore, 60_000);
  process.kill(frozen.pid, "SIGCONT");
  const wokenAt = Date.now();
  isOver = true;
  await syncing;
  await story.drained(300_000);
  const sends = [...toClientSends(accepted), ...(await clients.readLedger())];
  const ledgers = await readStoryLedgers(story, { sends, network: await readWhatsApp(control) });
  const again = (await logins()).filter(({ logged_in_at = 0 }) => logged_in_at > wokenAt);
  const replaced = (await logins()).filter(({ closed_by }) => closed_by === "replaced");
  const exit = await frozen.kill("SIGINT");
  const figures = toRoundFigures(ledgers, { ...IN_FLIGHT, kills: 1 });
  return {
    ...figures,
    takeOverSeconds,
    breaches: [
      ...figures.breaches,
      // A frozen node cannot close its socket; the network does when the next one logs in.
      ...atMost(1, "sockets that another sign-in replaced", replaced),
      ...atMost(0, "sign-ins after the old owner woke", again),
      ...(exit.code === 0 ? [] : [`the old owner ended with ${exit.code ?? exit.signal}`]),
    ],
  };
}
