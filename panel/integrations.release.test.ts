import { afterAll, beforeAll, expect, test } from "vitest";
import { freePortsFor } from "../src/platform/embedded-postgres/free-ports-for.ts";
import { FakeChatwoot } from "../test/servers/fake-chatwoot.ts";
import { type N8nServer, startN8n } from "../test/servers/n8n-server.ts";
import { bubble, startTypebot, type TypebotServer } from "../test/servers/typebot-server.ts";
import {
  DESKTOP,
  describeInBrowser,
  type PanelStory,
  PHONE,
  startPanelStory,
} from "../test/stories/panel-story.ts";

describeInBrowser("the integrations in the panel", () => {
  let story: PanelStory;
  let n8n: N8nServer;
  let typebot: TypebotServer;
  const chatwoot = new FakeChatwoot();

  beforeAll(async () => {
    const port = String((await freePortsFor(`panel integrations ${process.pid}`).next()).value);
    const own = { WAYGATE_PORT: port, WAYGATE_BASE_URL: `http://127.0.0.1:${port}` };
    [story, n8n, typebot] = await Promise.all([startPanelStory(own), startN8n(), startTypebot()]);
    await chatwoot.start();
  });
  afterAll(async () => {
    await story.close();
    await Promise.all([n8n.shut(), typebot.shut(), chatwoot.stop()]);
  });

  test("an integration that is not set up shows the first steps in the other program", async () => {
    const { gateway, openPage, look, follow } = story;
    const { id } = await gateway.connectInstance({ name: "Museum" });
    const page = await openPage(PHONE);
    await story.signIn(page, `instances/${id}/integrations`);
    await page.getByRole("heading", { name: "Integrations" }).waitFor();
    await look(page, "integrations-empty");
    await follow(page, "Set up: n8n");
    await page.getByRole("heading", { name: "First, in n8n" }).waitFor();
    await look(page, "integration-n8n-new");
  });

  test("an n8n workflow is set up, its refusal is explained, and its token is never shown again", async () => {
    const { gateway, openPage, look, press, follow } = story;
    const { id } = await gateway.connectInstance({ name: "Bakery" });
    const auth = { name: "Authorization", value: "Bearer right-token" };
    n8n.activate("bakery", { respond: "lastNode", output: { output: "Open until six" }, auth });
    const page = await openPage(PHONE);
    await story.signIn(page, `instances/${id}/integrations`);
    await follow(page, "Set up: n8n");
    await press(page, "Save n8n");
    await page.getByText("Fill in this field.").first().waitFor();
    await page.getByLabel("Production URL of the workflow").fill(`${n8n.url}/webhook/bakery`);
    await page.getByLabel("How n8n recognises the gateway").selectOption("bearer");
    await follow(page, "Overview");
    await page.getByRole("alertdialog", { name: "Leave without saving?" }).waitFor();
    await press(page, "Stay here");
    await press(page, "Save n8n");
    await page.getByText("is required for this kind of auth").waitFor();
    await page.getByLabel("Token", { exact: true }).fill("wrong-token");
    await page.getByLabel("How the workflow replies").selectOption("response");
    await press(page, "Save n8n");
    await press(page, "Test n8n");
    await page.getByRole("heading", { name: "n8n does not work yet" }).waitFor();
    await page
      .getByText(/The Webhook node rejects the token/)
      .first()
      .waitFor();
    await look(page, "integration-n8n-refused");
    await page.getByLabel("Token", { exact: true }).fill("right-token");
    await press(page, "Save n8n");
    await expect.poll(() => page.getByLabel("Token", { exact: true }).inputValue()).toMatch(/^\*\*\*\*/);
    await press(page, "Test n8n");
    await page.getByRole("heading", { name: "n8n works" }).waitFor();
    await page.getByText(/Its response contains 1 message/).waitFor();
    await look(page, "integration-n8n-works");
    expect(await page.content()).not.toContain("right-token");
    await follow(page, "Overview");
    await page.waitForURL(`${story.url}instances/${id}`);
    const { data } = await gateway.owner.getIntegration({ id, provider: "n8n" });
    expect(data).toMatchObject({ status: "ok", config: { auth: "bearer", reply_mode: "response" } });
  });

  test("a Typebot bot is set up with its keywords, paused, resumed and removed", async () => {
    const { gateway, openPage, look, press, follow } = story;
    const { id } = await gateway.connectInstance({ name: "Florist" });
    typebot.publish("florist", [bubble("b1", "Hello")]);
    const page = await openPage(DESKTOP);
    await story.signIn(page, `instances/${id}/integrations`);
    await follow(page, "Set up: Typebot");
    await page.getByLabel("Address of the viewer").fill(typebot.url);
    await page.getByLabel("Public id of the bot").fill("florist-typo");
    await page.getByLabel("What starts the bot").selectOption("keyword");
    await press(page, "Save Typebot");
    await page.getByText("is required for a keyword").waitFor();
    await look(page, "integration-typebot-new");
    await page.getByLabel("Word or expression").fill("flowers");
    await page.getByLabel("Words that end the dialogue").fill("stop\nend");
    await page.getByLabel("Variables of the flow").fill("shop = Florist");
    await press(page, "Save Typebot");
    await press(page, "Test Typebot");
    await page
      .getByText(/There is no published bot "florist-typo"/)
      .first()
      .waitFor();
    await page.getByLabel("Public id of the bot").fill("florist");
    await press(page, "Save Typebot");
    await page.getByText("Nothing was sent since it was saved.").waitFor();
    await press(page, "Test Typebot");
    await page.getByText("The bot exists and accepts messages.").waitFor();
    await look(page, "integration-typebot");
    const { data } = await gateway.owner.getIntegration({ id, provider: "typebot" });
    expect(data.config).toMatchObject({ stop_keywords: ["stop", "end"], variables: { shop: "Florist" } });
    await press(page, "Pause");
    await page.getByText("It is off: it gets no events").waitFor();
    await press(page, "Resume");
    await page.getByText("It is off: it gets no events").waitFor({ state: "detached" });
    await press(page, "Delete");
    await page.getByRole("alertdialog", { name: "Remove Typebot?" }).waitFor();
    await look(page, "integration-delete");
    await press(page, "Remove the integration");
    await page.getByRole("link", { name: "Set up: Typebot" }).waitFor();
    expect((await gateway.owner.listIntegrations({ id })).data).toEqual([]);
  });

  test("a Chatwoot inbox is set up, a wrong token and a warning are explained, and its test succeeds", async () => {
    const { gateway, openPage, look, press, follow } = story;
    const { id } = await gateway.connectInstance({ name: "Hotel" });
    const page = await openPage(PHONE);
    await story.signIn(page, `instances/${id}/integrations`);
    await follow(page, "Set up: Chatwoot");
    await page.getByLabel("Address of Chatwoot").fill(chatwoot.url);
    await page.getByLabel("Access token of an administrator").fill("not the token");
    await page.getByLabel("Number of the account").fill(String(chatwoot.account_id));
    await page.getByLabel("Number of the inbox").fill(String(chatwoot.inbox.id));
    await press(page, "Save Chatwoot");
    await page.getByText(/does not know the access token/).waitFor();
    await look(page, "integration-chatwoot-refused");
    await page.getByLabel("Access token of an administrator").fill(chatwoot.token);
    await press(page, "Save Chatwoot");
    await page.getByRole("heading", { name: "Saved, but look at this" }).waitFor();
    await look(page, "integration-chatwoot-warned");
    expect(chatwoot.inbox.webhook_url).toContain("/webhooks/chatwoot/");
    // The last release that accepts private addresses.
    chatwoot.version = "4.13.0";
    await press(page, "Test Chatwoot");
    await page.getByRole("heading", { name: "Chatwoot works" }).waitFor();
    await page.locator(".section-head .breadcrumbs a").click();
    await page.getByRole("link", { name: "Open: Chatwoot" }).waitFor();
    await look(page, "integrations");
  });

  test.each([
    ["pt-BR", "Configurar: Chatwoot", "Endereço do Chatwoot", "integration-pt-BR"],
    ["es", "Configurar: Chatwoot", "Dirección de Chatwoot", "integration-es"],
  ])("the forms are explained in %s too", async (locale, link, label, name) => {
    const { gateway, openPage, look, follow } = story;
    const { id } = await gateway.connectInstance({ name: "Pousada" });
    const page = await openPage(PHONE, locale);
    await story.signIn(page, `instances/${id}/integrations`);
    await follow(page, link);
    await page.getByLabel(label).waitFor();
    await look(page, name);
  });
});
