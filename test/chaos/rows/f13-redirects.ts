import type { E2eStory } from "../../e2e/e2e-story.ts";
import { waitUntil } from "../../gateway.ts";
import type { ChaosRow } from "../chaos-row.ts";
import {
  type DnsResponse,
  inIsolatedNetwork,
  PLACES,
  startHoneypots,
  startNameServer,
  startOpenServer,
  type Zone,
} from "../isolated-network.ts";
import { type Endpoint, pairEach } from "../steady-load.ts";

const PORT = 80;
const STATUSES = [301, 302, 303, 307, 308, 200];
const HOW = { id: "F13", fault: "redirects to the inside, to files and to the gateway itself" };

/** F13: webhooks follow no redirect. Files follow redirects, but never to internal addresses. */
export const f13 = inIsolatedNetwork(HOW);

export const insideF13: ChaosRow = {
  ...HOW,
  async run(round) {
    const traps = await startHoneypots(PORT);
    const story = await round.story({ WAYGATE_ALLOWED_HOSTS: "external" });
    await story.start();
    const targets = [
      `http://${PLACES.metadata}/latest/meta-data/`,
      "file:///etc/passwd",
      `${story.gateway.url}/health`,
      `http://${PLACES.open}/second`,
    ];
    const open = await startOpenServer(PORT, ({ url = "" }, response) => {
      const [, status, target] = /^\/(\d+)\/(\d)/.exec(url) ?? [];
      const to = targets[Number(target)] ?? "";
      // 200 stands for a `Refresh` header.
      const headers = status === "200" ? { refresh: `0;url=${to}` } : { location: to };
      response.writeHead(Number(status ?? 404), headers).end("go there");
    });
    const paths = STATUSES.flatMap((status) => targets.map((_, index) => `/${status}/${index}`));
    const shops = await pairEach(
      story,
      paths.map((path) => `http://${PLACES.open}${path}`),
    );
    const logged = await deliverToAll(story, shops);
    const media = await fetchAll(shops[0], paths);
    const second = open.paths.filter((path) => path.startsWith("/second")).length;
    const wrong = logged.filter(({ status_code, success }) => success !== (status_code === 200));
    const hits = traps.hits();
    const allowed = STATUSES.filter((status) => status !== 200).length;
    return {
      events: shops.length,
      unexpected: hits,
      measured: {
        "addresses of the inside visited": `${hits} of ${2 * paths.length}`,
        "allowed addresses visited for files": `${second} of ${allowed}`,
        "tries logged with the redirect's own status": `${logged.length - wrong.length} of ${paths.length}`,
        "media refused": `${media} of ${paths.length}`,
      },
      breaches: [
        ...(hits > 0 ? [`${hits} redirects to the inside were followed`] : []),
        ...(second === allowed
          ? []
          : [`${second} of ${allowed} redirects to an allowed address were followed`]),
        ...(logged.length !== paths.length || wrong.length > 0
          ? ["a redirect was not logged as it came"]
          : []),
        ...(open.paths.length < 2 * paths.length ? ["not every redirect was met"] : []),
      ],
    };
  },
};

interface Logged {
  status_code: number | null;
  success: boolean;
}

async function deliverToAll(story: E2eStory, shops: readonly Endpoint[]): Promise<Logged[]> {
  for (const { client, id } of shops) {
    await client.sandboxReceive({ id, from: "5521966100000", text: "Follow me" });
  }
  const first = "select status_code, success from attempt where attempt = 1";
  await waitUntil(async () => (await story.rows(first)).length >= shops.length, 60_000).catch(() => {});
  return story.rows<Logged>(first);
}

/** Sends the same addresses as files and returns how many were refused. Text with status 200 is no image. */
async function fetchAll(shop: Endpoint | undefined, paths: readonly string[]): Promise<number> {
  let refused = 0;
  for (const path of paths) {
    const url = `http://${PLACES.open}${path}`;
    const sent = shop?.client.sendMedia({ id: shop.id, number: "5521966100000", type: "image", url });
    await sent?.catch(() => {
      refused += 1;
    });
  }
  return refused;
}

const REBINDING = { id: "F14", fault: "names that change where they lead" };

const OUTSIDE: DnsResponse = { addresses: [PLACES.open] };
const inside = (...addresses: string[]): DnsResponse => ({ addresses });

/** The addresses of each name by query. The last one repeats. */
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

/** F14: DNS rebinding, with names that resolve to a public address when checked and to an internal one when dialled. */
export const f14 = inIsolatedNetwork(REBINDING);

export const insideF14: ChaosRow = {
  ...REBINDING,
  async run(round) {
    const traps = await startHoneypots(PORT);
    const open = await startOpenServer(PORT, (_, response) => response.end("ok"));
    const { asked } = await startNameServer(PLACES.nameServer, (name, nth) => {
      const addresses = NAMES[name];
      return addresses?.[Math.min(nth, addresses.length) - 1];
    });
    const story = await round.story({
      WAYGATE_ALLOWED_HOSTS: "external",
      WAYGATE_WEBHOOK_TIMEOUT: "3s",
      WAYGATE_RETRY_SCHEDULE: "1s,1s,1s,7d",
    });
    await story.start();
    const shops = await saveEach(story);
    await tryEach(story, shops);
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

/** One webhook for each name. One that is refused is inserted directly. */
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

/** Waits until each webhook was tried, so that late DNS responses count. */
async function tryEach(story: E2eStory, shops: readonly Endpoint[]): Promise<void> {
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
