import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { PASSWORD, signIn } from "../sign-in.ts";
import { createE2eStory, type E2eStory } from "./e2e-story.ts";

beforeAll(buildDist);

const SHOP = { name: "Shop", email: "shop@example.com", password: PASSWORD };
const CUSTOMER = "5521966661234";

describe("a gateway that is killed while it removes an account", () => {
  let story: E2eStory;
  let account: number;

  beforeAll(async () => {
    story = await createE2eStory({ WAYGATE_SANDBOX: "on" });
    await story.start();
    account = (await (await story.signIn()).createAccount(SHOP)).data.id;
    await fillAccount();
    await story.gateway.kill();
    await story.dieAt("account:after-rows", async () => {
      await (await story.signIn()).removeAccount({ id: account });
    });
  });
  afterAll(() => story.end());

  /** A message in and one out, and a lead. */
  async function fillAccount(): Promise<void> {
    const baseUrl = story.gateway.url;
    const { client: user } = await signIn(baseUrl, SHOP);
    const { data } = await user.createInstance({ name: "Sales", network: "sandbox" });
    const { id, api_key } = data;
    const key = createClient({ baseUrl, apiKey: api_key });
    await key.sandboxScan({ id });
    await waitUntil(async () => (await key.getInstanceStatus({ id })).data.connected);
    await key.sandboxReceive({ id, from: CUSTOMER, text: "Oi" });
    await key.sendText({ id, number: CUSTOMER, text: "Hello" });
    await user.createLead({ name: "Ana", phone: CUSTOMER });
  }

  const findAccount = () =>
    story.rows("select removed_at is not null as is_hidden from account where id = $1", account);
  const actions = async () =>
    (
      await story.rows<{ action: string }>(
        "select action from audit where account_id = $1 and action like 'account.%' order by id",
        account,
      )
    ).map(({ action }) => action);

  test("removes the remaining rows when it starts again, and records the end once", async () => {
    expect(await findAccount()).toEqual([{ is_hidden: true }]);
    expect(await actions()).not.toContain("account.removed");

    await story.start();
    await waitUntil(async () => (await findAccount()).length === 0);

    const ended = (await actions()).filter((action) => action === "account.removed");
    expect(ended).toHaveLength(1);
    expect(await story.rows("select from lead where account_id = $1", account)).toEqual([]);
    expect(await story.rows("select from sandbox.device where account_id = $1", account)).toEqual([]);
    expect(await story.rows("select from audit where account_id = $1 and ip is not null", account)).toEqual(
      [],
    );
    const again = await (await story.signIn()).createAccount(SHOP);
    expect(again.data.id).not.toBe(account);
  });
});
