import { afterAll, beforeAll, expect, test } from "vitest";
import { startReceiver } from "../test/servers/receiver.ts";
import {
  DESKTOP,
  describeInBrowser,
  type PanelStory,
  PHONE,
  startPanelStory,
} from "../test/stories/panel-story.ts";

describeInBrowser("the home page of the panel", () => {
  let story: PanelStory;
  beforeAll(async () => {
    story = await startPanelStory();
  });
  afterAll(() => story?.close());

  const home = (page: Awaited<ReturnType<PanelStory["openPage"]>>) =>
    page.locator("nav").first().getByRole("link", { name: "Home" }).click();

  test("an empty account shows the steps to the first message", async () => {
    const { openPage, signIn, heading, look, follow } = story;
    const page = await openPage();
    await signIn(page);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await home(page);
    await heading(page, "From nothing to a first message");
    await look(page, "home-empty");
    await follow(page, "Create the first instance");
    await heading(page, "New instance");
  });

  test("alerts appear live with their remedies, and the last day is drawn as a chart", async () => {
    const { gateway, openPage, signIn, heading, look, follow } = story;
    const desk = await gateway.connectInstance({ name: "Front desk" });
    const night = await gateway.connectInstance({ name: "Night shift" });
    await desk.client.sendText({ id: desk.id, number: "5511999990004", text: "Hello" });
    await desk.client.sandboxReceive({ id: desk.id, from: "5511977770001", text: "Hi" });
    const page = await openPage(DESKTOP);
    await signIn(page);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await home(page);
    await heading(page, "Home");
    await page.getByText("Everything works.").waitFor();
    await page.getByText("2 of 2 instances are connected.").waitFor();
    await page.getByText(/1 sent, [1-9] received, 0 not sent\./).waitFor();
    await look(page, "home-well");
    await gateway.owner.sandboxBan({ id: night.id });
    await page.getByText("Night shift is no longer connected: Banned.").waitFor();
    await page.getByText("One thing needs your attention.").waitFor();
    await look(page, "home-attention");
    await follow(page, "Open the instance: Night shift");
    await heading(page, "Night shift");
    await page.goBack();
    await follow(page, /Banned 1/);
    await heading(page, "Instances");
    expect(new URL(page.url()).searchParams.get("status")).toBe("banned");
    await page.getByRole("listitem").filter({ hasText: "Night shift" }).waitFor();
    expect(await page.getByText("Front desk").count()).toBe(0);
  });

  test.each([
    ["pt-BR", "Início"],
    ["es", "Inicio"],
  ])("the home page fits a phone in %s", async (locale, title) => {
    const { openPage, heading, look, signIn } = story;
    const page = await openPage(PHONE, locale);
    await signIn(page);
    await heading(page, title);
    await page.locator(".plot-picture").first().waitFor();
    await look(page, `home-${locale}`);
  });

  test("a home page that cannot load its figures says why, and shows them after a retry", async () => {
    const { openPage, signIn, look, press } = story;
    const page = await openPage();
    await page.route("**/api/account/overview", (route) =>
      route.fulfill({
        status: 409,
        json: { success: false, code: "CONFLICT", message: "Not at the moment." },
      }),
    );
    await signIn(page);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await home(page);
    await page.getByRole("alert").getByText("Not at the moment.").waitFor();
    await look(page, "home-refused");
    await page.unroute("**/api/account/overview");
    await press(page, "Try again");
    await page.getByRole("heading", { name: "The last 24 hours" }).waitFor();
  });

  test("a failing webhook says in the user's language why deliveries fail", async () => {
    const { gateway, openPage, look, signIn } = story;
    const receiver = await startReceiver();
    await receiver.shut();
    for (const name of ["Loja", "Filial", "Centro"]) {
      const { client, id } = await gateway.connectInstance({ name, webhook_url: receiver.url });
      await client.sandboxReceive({ id, from: "5511977770009", text: "Oi" });
    }
    const page = await openPage(DESKTOP, "pt-BR");
    await signIn(page);
    await page.getByText(/O programa dele recusa a conexão\./).waitFor();
    await page.getByText(/Inicie o programa e confira o servidor e a porta/).waitFor();
    await page.getByText("Há mais 2 com a mesma causa").click();
    expect(await page.locator(".same-cause a").count()).toBe(2);
    await look(page, "home-webhook");
    await receiver.close();
  });
});
