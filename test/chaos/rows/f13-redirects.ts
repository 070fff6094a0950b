import type { E2eStory } from "../../e2e/e2e-story.ts";
import { waitUntil } from "../../gateway.ts";
import type { ChaosRow } from "../chaos-row.ts";
import { inSealedNetwork } from "../sealed-network.ts";
import { PLACES, startOpenServer, startTraps } from "../sealed-places.ts";
import { type Endpoint, pairEach } from "../steady-load.ts";

const PORT = 80;
const STATUSES = [301, 302, 303, 307, 308, 200];
const HOW = { id: "F13", fault: "redirects to the inside, to files and to the gateway itself" };

/** F13: a webhook follows no redirect; a file is fetched from where its address leads, but never from the inside. */
export const f13 = inSealedNetwork(HOW);

export const insideF13: ChaosRow = {
  ...HOW,
  async run(round) {
    const traps = await startTraps(PORT);
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
      // 200 stands for the header of browsers.
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

/** The same addresses as files to send; answers how many were refused. A 200 is a file, and text is no image. */
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
