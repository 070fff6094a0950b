import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newPhone } from "../test/gateway.ts";
import {
  DESKTOP,
  describeInBrowser,
  type PanelStory,
  PHONE,
  startPanelStory,
} from "../test/stories/panel-story.ts";
import { startWhatsAppServer, type WhatsAppServer } from "../test/whatsapp-server/server.ts";
import { trustAuthority } from "../test/whatsapp-stage.ts";

describeInBrowser("linking a phone in the panel, against a server that speaks as WhatsApp does", () => {
  let network: WhatsAppServer;
  let story: PanelStory;
  beforeAll(async () => {
    network = await startWhatsAppServer();
    trustAuthority(network.caFile);
    story = await startPanelStory({
      WAYGATE_WHATSAPP_URL: network.url,
      WAYGATE_WHATSAPP_ROOT_KEY: network.rootKeyHex,
    });
  });
  afterAll(async () => {
    await story?.close();
    await network?.close();
  });

  const openShop = async (name: string) => {
    const { data } = await story.gateway.owner.createInstance({ name, network: "whatsapp" });
    const { phone } = await network.control.addPerson({ phone: newPhone() });
    return { id: data.id, phone };
  };
  const openLink = async (page: Page, name: string) => {
    await story.signIn(page);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator("nav").first().getByRole("link", { name: "Instances" }).click();
    await page.getByRole("link", { name: `Link a phone: ${name}` }).click();
    await story.heading(page, `Link ${name}`);
  };
  const picture = (page: Page) => page.getByRole("img", { name: "QR code to scan with the phone" });
  /** Decodes the QR code on the screen. */
  const readCode = async (page: Page, id: number) => {
    const read = async () => (await story.gateway.owner.getInstanceQr({ id })).data;
    await expect
      .poll(async () => (await read())?.qr === (await picture(page).getAttribute("src")))
      .toBe(true);
    return (await read())?.qr_code ?? "";
  };

  test("the QR code is renewed in time and for a second scan, and the page shows the linked phone live", {
    timeout: 600_000,
  }, async () => {
    const { openPage, look, press, heading } = story;
    const { id, phone } = await openShop("Front desk");
    const page = await openPage();
    await openLink(page, "Front desk");
    await press(page, "Show the code");
    await picture(page).waitFor();
    await page.getByText(/^A new code comes in \d+ seconds?$/).waitFor();
    await page.getByText(/^Code 1 of \d+$/).waitFor();
    await look(page, "pairing-qr");
    const first = await picture(page).getAttribute("src");
    await page.getByText(/^Code [2-9] of \d+$/).waitFor({ timeout: 90_000 });
    expect(await picture(page).getAttribute("src")).not.toBe(first);
    const second = await readCode(page, id);
    await network.control.refreshRegistration({ child: "companion_reg_refresh" });
    await page.getByRole("alert").getByText("Scan once more").waitFor();
    await look(page, "pairing-again");
    const third = await readCode(page, id);
    expect(third).not.toBe(second);
    await network.control.scan(phone, third);
    await heading(page, "Linked");
    await page.getByText(/Front desk is connected as \+/).waitFor();
    await look(page, "pairing-linked");
  });

  test("a pairing code is shown, a wrong one is explained, and the right one links the phone", async () => {
    const { gateway, openPage, look, press, heading } = story;
    await gateway.owner.updateAccount({ settings: { default_country: "BR" } });
    const { phone } = await openShop("Second desk");
    const other = newPhone();
    const page = await openPage(PHONE);
    await openLink(page, "Second desk");
    await page.getByText("Type a code on the phone instead").click();
    await page.getByLabel("Number of the phone").fill(other.slice(2));
    await press(page, "Get a code");
    await page.getByRole("heading", { name: "Type this code on the phone" }).waitFor();
    const links = (digits: string) =>
      page.getByText(digits.replace(/^(55)(\d\d)(\d{5})(\d{4})$/, "It links +$1 $2 $3-$4."));
    await links(other).waitFor();
    await press(page, "Link by QR instead");
    await picture(page).waitFor();
    await page.getByText("Type a code on the phone instead").click();
    await page.getByLabel("Number of the phone").fill(other);
    await press(page, "Get a code");
    await links(other).waitFor();
    await page.getByText("Use another number").click();
    await page.getByLabel("Number of the phone").fill(phone.slice(2));
    await press(page, "Get a code");
    await links(phone).waitFor();
    const shown = page.locator(".pairing-code");
    expect(await shown.textContent()).toMatch(/^\w{4}-\w{4}$/);
    await look(page, "pairing-code");
    await expect(network.control.enterCode(phone, "12345678")).rejects.toThrow("the code is wrong");
    await page.getByRole("alert").getByText("Linking did not succeed").waitFor();
    await look(page, "pairing-wrong-code");
    await network.control.enterCode(phone, ((await shown.textContent()) ?? "").replace("-", ""));
    await heading(page, "Linked");
  });

  test("an account with a passkey is linked through a link for its owner, and the page shows it live", async () => {
    const { gateway, openPage, look, press, heading } = story;
    const { id, phone } = await openShop("Passkey desk");
    const page = await openPage(DESKTOP);
    await openLink(page, "Passkey desk");
    await press(page, "Show the code");
    await picture(page).waitFor();
    const linked = network.control.scanWithPasskey(phone, await readCode(page, id));
    await page.getByRole("heading", { name: "WhatsApp wants a passkey" }).waitFor();
    await look(page, "pairing-passkey");
    await press(page, "Make a link page");
    const link = page.getByRole("link", { name: "Open the link page" });
    expect(await link.getAttribute("href")).toMatch(/^\/link\/[\w-]{43}$/);
    await look(page, "pairing-passkey-link");
    const { data } = await gateway.owner.getPasskey({ id });
    const signed = await network.control.signPasskey(phone, data.challenge as Record<string, unknown>);
    await gateway.owner.submitPasskeyAssertion({ ...signed, id } as never);
    await heading(page, "Linked");
    expect(await linked).toBeGreaterThan(0);
  });
});
