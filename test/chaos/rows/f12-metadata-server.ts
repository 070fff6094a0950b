import { WaygateError } from "../../../src/client/client.ts";
import { createSecretBox, encryptionContextOf } from "../../../src/platform/secrets/secret-box.ts";
import type { E2eStory } from "../../e2e/e2e-story.ts";
import { waitUntil } from "../../gateway.ts";
import { disguises, INTERNAL_IPV6, spellings } from "../../servers/internal-addresses.ts";
import type { ChaosRow } from "../chaos-row.ts";
import {
  inIsolatedNetwork,
  PLACES,
  startHoneypots,
  startNameServer,
  startOpenServer,
} from "../isolated-network.ts";
import { type Endpoint, pairEach } from "../steady-load.ts";

const PORT = 80;
const AT_ONCE = 8;
const HOW = { id: "F12", fault: "addresses of the cloud's metadata server and of neighbours" };

/** F12: internal addresses in every input. No request reaches an internal listener. */
export const f12 = inIsolatedNetwork(HOW);

export const insideF12: ChaosRow = {
  ...HOW,
  async run(round) {
    const traps = await startHoneypots(PORT);
    const open = await startOpenServer(PORT, (_, response) => response.end("ok"));
    await startNameServer(PLACES.nameServer, nameOf);
    const story = await round.story({ WAYGATE_ALLOWED_HOSTS: "external", WAYGATE_UNKNOWN_RATE: "0" });
    await story.start();
    const [shop] = await pairEach(story, [`http://${PLACES.open}/hook`]);
    if (!shop) throw new Error("there is no instance");
    const forms = forgedUrls();
    const doors = { ...doorsOf(shop), ...(await furtherDoorsOf(story, shop)) };
    const passed: string[] = [];
    for (const [door, knock] of Object.entries(doors)) {
      await inParallel(forms, async (url) => {
        if ((await knock(url)) === "passed") passed.push(`${door} took ${url}`);
      });
    }
    const delivered = await deliverTo(story, shop, forms);
    const asked = forms.length * (Object.keys(doors).length + 1);
    return {
      unexpected: traps.hits(),
      measured: {
        "hits on internal listeners": `${traps.hits()} of ${asked}`,
        "deliveries to saved forms that failed": `${delivered.failed} of ${forms.length}`,
        "calls to the open address beside them": open.paths.length,
      },
      breaches: [
        ...(traps.hits() > 0 ? [`${traps.hits()} connections reached internal listeners`] : []),
        ...(delivered.failed < forms.length ? ["some deliveries to forged addresses did not fail"] : []),
        ...(open.paths.length === 0 ? ["nothing reached the open address, so the row shows nothing"] : []),
        ...passed.slice(0, 3),
      ],
    };
  },
};

/** Names that resolve to internal addresses; all others do not exist. */
function nameOf(name: string) {
  const inside: Record<string, string> = {
    "metadata.google.internal": PLACES.metadata,
    "169-254-169-254.nip.test": PLACES.metadata,
    "intranet.test": PLACES.neighbour,
    "localtest.test": PLACES.loopback,
    "six.test": PLACES.neighbourIpv6,
    localhost: PLACES.loopback,
  };
  const address = inside[name];
  return address === undefined ? undefined : { addresses: [address] };
}

function forgedUrls(): string[] {
  const spelt = [PLACES.metadata, PLACES.neighbour, PLACES.loopback].flatMap((address) => {
    const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
    return spellings([a, b, c, d]);
  });
  const names = [
    "metadata.google.internal",
    "169-254-169-254.nip.test",
    "intranet.test",
    "localtest.test",
    "six.test",
  ];
  const hosts = [
    ...spelt,
    ...INTERNAL_IPV6,
    `[${PLACES.neighbourIpv6}]`,
    "localhost",
    "LOCALHOST.",
    ...names,
  ];
  // Two spellings of each: the plain one and one other in turn.
  return hosts.flatMap((host, index) => {
    const all = disguises(host, PORT);
    return [all[0] ?? "", all[1 + (index % (all.length - 1))] ?? ""];
  });
}

type Knock = (url: string) => Promise<"refused" | "passed">;

/** Every input whose URL the gateway fetches. */
function doorsOf({ client, id }: Endpoint): Record<string, Knock> {
  const webhook = { id, name: "Forged", events: ["message.received" as const], is_active: false };
  return {
    webhook: (url) => knock(client.createWebhook({ ...webhook, url })),
    media: (url) => knock(client.sendMedia({ id, number: "5521966100000", type: "image", url })),
    "profile photo": (url) => knock(client.setProfilePhoto({ id, url })),
  };
}

/** Inputs that need a group, an administrator or another server. */
async function furtherDoorsOf(story: E2eStory, { client, id }: Endpoint): Promise<Record<string, Knock>> {
  const owner = await story.signIn();
  const { jid } = (await client.createGroup({ id, name: "Team", participants: ["5521966100000"] })).data;
  const integration = (provider: "n8n" | "typebot" | "chatwoot", config: object) =>
    knock(client.saveIntegration({ id, provider, config: { ...config } }));
  return {
    // A group applies the settings that it can and reports the others.
    "group image": (image) =>
      knock(client.updateGroupSettings({ id, jid, image }), ({ data }) => data.applied.length > 0),
    "global webhook": (url) => knock(owner.putGlobalWebhook({ url })),
    n8n: (webhook_url) => integration("n8n", { webhook_url }),
    typebot: (base_url) => integration("typebot", { base_url, public_id: "shop" }),
    chatwoot: (url) => integration("chatwoot", { url, access_token: "secret", account_id: 1, inbox_id: 1 }),
  };
}

async function knock<Result>(request: Promise<Result>, isTaken: (result: Result) => boolean = () => true) {
  try {
    return isTaken(await request) ? "passed" : "refused";
  } catch (error) {
    if (error instanceof WaygateError && error.status < 500) return "refused";
    if (error instanceof WaygateError && error.code === "MEDIA_DOWNLOAD_FAILED") return "refused";
    throw error;
  }
}

/** Webhooks saved before the policy. The check at connect time must block them. */
async function deliverTo(
  story: E2eStory,
  shop: Endpoint,
  forms: readonly string[],
): Promise<{ failed: number }> {
  const ids = await story.rows<{ id: number }>(
    "select nextval(pg_get_serial_sequence('webhook', 'id'))::integer as id from generate_series(1, $1::integer)",
    forms.length,
  );
  const box = createSecretBox(story.settings.WAYGATE_SECRET_KEY ?? "");
  await story.rows(
    `with form as (
       select * from unnest($1::text[], $3::bigint[], $4::bytea[], $5::bytea[]) as given (url, id, address, secret)
     ), own as (
       insert into lane (kind, key) select 'webhook', id::text from form returning id, key
     )
     insert into webhook (id, account_id, instance_id, lane, name, url, address, events, event_names, secret)
     select f.id, w.account_id, w.instance_id, o.id, 'Old', f.url, f.address, w.events, w.event_names, f.secret
     from form f join own o on o.key = f.id::text cross join webhook w
     where w.instance_id = $2 and w.is_default`,
    forms,
    shop.id,
    ids.map(({ id }) => id),
    ids.map(({ id }, n) => box.seal(forms[n] ?? "", encryptionContextOf("webhook", "address", id))),
    ids.map(({ id }) => box.seal("whsec_of_other_days", encryptionContextOf("webhook", "secret", id))),
  );
  await shop.client.sandboxReceive({ id: shop.id, from: "5521966100000", text: "To all of them" });
  const tried = `select distinct a.webhook_id from attempt a join webhook w on w.id = a.webhook_id
    where w.name = 'Old' and not a.success`;
  await waitUntil(async () => (await story.rows(tried)).length >= forms.length, 60_000).catch(() => {});
  return { failed: (await story.rows(tried)).length };
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
