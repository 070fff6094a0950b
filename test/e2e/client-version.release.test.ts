import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUILT_IN_REVISION } from "../../src/features/client-version/find-revision.ts";
import { buildDist } from "../run/build-dist.ts";
import { startWebClientServer, type WebClientServer } from "../servers/web-client-server.ts";
import { startWhatsAppStory, type WhatsAppStory } from "./whatsapp-story.ts";

beforeAll(buildDist);

const FIRST = BUILT_IN_REVISION + 70_000;
const SECOND = FIRST + 70_000;

describe("A gateway that is killed around the search for a client version", () => {
  let on: WhatsAppStory;
  let web: WebClientServer;

  beforeAll(async () => {
    web = await startWebClientServer(FIRST);
    on = await startWhatsAppStory({ env: { WAYGATE_CLIENT_VERSION_ORIGIN: web.origin } });
    await on.start();
    await on.pair();
  });

  afterAll(async () => {
    await on.end();
    await web.close();
  });

  const kept = async () => {
    const [row] = await on.story.rows<{ revision: number; is_wanted: boolean }>(
      "select revision::float8 as revision, requested_at > searched_at as is_wanted from client_version",
    );
    return row;
  };

  test("searches again when it died before the version was stored", async () => {
    expect(await kept()).toMatchObject({ revision: FIRST });
    await on.story.gateway.kill();
    web.publish(SECOND);
    await on.network.control.settings({ oldestRevision: SECOND });
    await on.story.rows("update client_version set searched_at = searched_at - interval '2 hours'");
    const asked = web.requests.length;
    await on.story.dieAt("client-version.found");
    expect(await kept()).toEqual({ revision: FIRST, is_wanted: true });
    await on.story.dieAt("client-version.kept");
    expect(await kept()).toEqual({ revision: SECOND, is_wanted: false });
    expect(web.requests.length).toBe(asked + 2);
  });

  test("uses the stored version after it died before the first use, without another search", async () => {
    const asked = web.requests.length;
    await on.start();
    await on.online();
    const { sockets } = await on.network.control.ledger();
    expect(sockets.at(-1)?.version).toBe(`2.3000.${SECOND}`);
    expect(web.requests.length).toBe(asked);
  });
});
