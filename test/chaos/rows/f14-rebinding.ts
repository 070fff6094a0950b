import type { E2eStory } from "../../e2e/e2e-story.ts";
import { waitUntil } from "../../gateway.ts";
import type { ChaosRow } from "../chaos-row.ts";
import { type DnsResponse, startNameServer, type Zone } from "../name-server.ts";
import { inSealedNetwork } from "../sealed-network.ts";
import { PLACES, startOpenServer, startTraps } from "../sealed-places.ts";
import { type Endpoint, pairEach } from "../steady-load.ts";

const PORT = 80;
const HOW = { id: "F14", fault: "names that change where they lead" };

const OUTSIDE: DnsResponse = { addresses: [PLACES.open] };
const inside = (...addresses: string[]): DnsResponse => ({ addresses });

/** What each name leads to, from the first question on; the last answer stays. */
const NAMES: Readonly<Record<string, readonly ReturnType<Zone>[]>> = {
  "honest.test": [OUTSIDE],
  "turns-to-metadata.test": [OUTSIDE, inside(PLACES.metadata)],
  "turns-to-loopback.test": [OUTSIDE, OUTSIDE, inside(PLACES.loopback)],
  "flickers.test": [OUTSIDE, inside(PLACES.neighbour), OUTSIDE, inside(PLACES.metadata)],
  "mixed.test": [inside(PLACES.open, PLACES.metadata)],
  "mixed-other-way.test": [inside(PLACES.neighbour, PLACES.open)],
  "six-inside.test": [inside(PLACES.open, PLACES.neighbourIpv6)],
  "six-only.test": [inside(PLACES.metadataIpv6)],
  "chain.test": [{ alias: "end-of-chain.test", addresses: [PLACES.metadata] }],
  "chain-turns.test": [
    { alias: "outer.test", addresses: [PLACES.open] },
    { alias: "inner.test", addresses: [PLACES.loopback] },
  ],
  "appears-inside.test": [undefined, undefined, inside(PLACES.metadata)],
  "silent.test": ["silence"],
  "silent-then-inside.test": ["silence", inside(PLACES.neighbour)],
};
const TRIES = 4;

/** F14: names that lead outside when they are looked at and inside when they are dialled. */
export const f14 = inSealedNetwork(HOW);

export const insideF14: ChaosRow = {
  ...HOW,
  async run(round) {
    const traps = await startTraps(PORT);
    const open = await startOpenServer(PORT, (_, response) => response.end("ok"));
    const { asked } = await startNameServer(PLACES.nameServer, (name, nth) => {
      const answers = NAMES[name];
      return answers?.[Math.min(nth, answers.length) - 1];
    });
    const story = await round.story({
      WAYGATE_ALLOWED_HOSTS: "external",
      WAYGATE_WEBHOOK_TIMEOUT: "3s",
      WAYGATE_RETRY_SCHEDULE: "1s,1s,1s,7d",
    });
    await story.start();
    const shops = await saveEach(story);
    await deliverToAll(story, shops);
    await fetchMedia(shops[0]);
    const tries = await story.rows<{ n: number }>("select count(*)::int as n from attempt");
    return {
      unexpected: traps.hits(),
      measured: {
        "hits on internal listeners": `${traps.hits()} of ${tries[0]?.n ?? 0} tries and ${Object.keys(NAMES).length} files`,
        "questions to the name server": [...asked.values()].reduce((sum, count) => sum + count, 0),
        "calls to the open address beside them": open.paths.length,
      },
      breaches: [
        ...(traps.hits() > 0 ? [`${traps.hits()} connections reached internal listeners`] : []),
        ...(open.paths.length === 0 ? ["no honest name was reached, so the row shows nothing"] : []),
      ],
    };
  },
};

/** A webhook for each name; one that is refused when it is saved comes into the row all the same. */
async function saveEach(story: E2eStory): Promise<Endpoint[]> {
  const names = Object.keys(NAMES);
  const shops = await pairEach(
    story,
    names.map((_, index) => `http://${PLACES.open}/${index}`),
  );
  for (const [index, name] of names.entries()) {
    const { client, id } = shops[index] ?? {};
    const url = `http://${name}/hook`;
    await client?.updateDefaultWebhook({ id: id ?? 0, url }).catch(() => {});
    await story.rows("update webhook set url = $1, address = null where instance_id = $2", url, id);
  }
  return shops;
}

/** Until each has had its tries, so that an answer that comes late has its chance too. */
async function deliverToAll(story: E2eStory, shops: readonly Endpoint[]): Promise<void> {
  for (const { client, id } of shops) {
    await client.sandboxReceive({ id, from: "5521966100000", text: "Where are you?" });
  }
  const done = `select 1 from (select webhook_id, max(attempt) as tries, bool_or(success) as reached
    from attempt group by webhook_id) t where tries >= ${TRIES} or reached`;
  await waitUntil(async () => (await story.rows(done)).length >= shops.length, 90_000);
}

async function fetchMedia(shop: Endpoint | undefined): Promise<void> {
  for (const name of Object.keys(NAMES)) {
    const url = `http://${name}/picture.png`;
    const sent = shop?.client.sendMedia({ id: shop.id, number: "5521966100000", type: "image", url });
    await sent?.catch(() => {});
  }
}
