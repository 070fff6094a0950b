import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestInstance } from "../test/gateway.ts";
import { needs } from "../test/run/programs.ts";
import { blackPng } from "../test/sample-files.ts";
import {
  DESKTOP,
  describeInBrowser,
  type PanelStory,
  PHONE,
  startPanelStory,
} from "../test/stories/panel-story.ts";

const BIA = "5511977771234";
const REFUSED = "5511977770001";
const UNREAD = "5511977770003";
const MISSING = "5511977770000";
const LONG_MESSAGE =
  "Good morning! My order 2041 has not arrived yet, and the link that I got shows nothing. Could you have a look?";

describeInBrowser("a person who talks to contacts in the panel", () => {
  let story: PanelStory;

  beforeAll(async () => {
    story = await startPanelStory();
  });
  afterAll(() => story?.close());

  const write = ({ id, client }: TestInstance, text: string, from = BIA, push_name = "Bia Souza") =>
    client.sandboxReceive({ id, from, text, push_name });

  async function openChats(name: string, viewport = DESKTOP, locale = "en-GB"): Promise<Page> {
    const page = await story.openPage(viewport, locale);
    await story.signIn(page, "instances");
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByRole("link", { name: "Conversations" }).click();
    await page.getByRole("heading", { name: "Conversations", level: 2 }).waitFor();
    return page;
  }

  const chat = (page: Page, name: string | RegExp) =>
    page.getByRole("list", { name: "Chats" }).getByRole("link", { name });
  const thread = (page: Page) => page.getByRole("region", { name: "Messages", exact: true });
  const bubble = (page: Page, text: string | RegExp) =>
    thread(page).getByRole("article").filter({ hasText: text });
  const act = async (page: Page, text: string, action: string | RegExp) => {
    await bubble(page, text).getByRole("button", { name: "Actions:" }).click();
    await page
      .getByRole("dialog", { name: "Actions" })
      .getByRole("button", { name: action, exact: true })
      .click();
  };
  const field = (page: Page) => page.getByRole("textbox", { name: "Message", exact: true });
  const send = async (page: Page, text: string) => {
    await field(page).fill(text);
    await field(page).press("Enter");
  };

  test("sees a message at once, replies with the keyboard, and sees the delivery status of the reply", async () => {
    const shop = await story.gateway.connectInstance({ name: "Front desk" });
    const page = await openChats("Front desk");
    await page.getByText("No conversation yet").waitFor();
    await story.look(page, "chats-empty");
    await write(shop, LONG_MESSAGE);
    await chat(page, /Bia Souza.*1 unread message/).waitFor();
    await expect.poll(() => page.title()).toBe("(1) Front desk · Waygate");
    await chat(page, /Bia Souza/).focus();
    await page.keyboard.press("Enter");
    await bubble(page, "My order 2041").waitFor();
    await story.type(page, "I am looking");
    await page.keyboard.press("Shift+Enter");
    await story.type(page, "One moment, please.");
    await page.keyboard.press("Enter");
    await bubble(page, "One moment, please.").getByText("Read", { exact: true }).waitFor();
    expect(await field(page).inputValue()).toBe("");
    await expect.poll(() => page.title()).toBe("Bia Souza · Waygate");
    // A reply marks the chat as read.
    await page.getByRole("button", { name: "Mark as read" }).waitFor({ state: "detached" });
    await write(shop, "Thank you!");
    await bubble(page, "Thank you!").waitFor();
    await page.getByRole("button", { name: "Mark as read" }).click();
    await page.getByRole("button", { name: "Mark as read" }).waitFor({ state: "detached" });
    await field(page).focus();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Actions" }).waitFor();
    await page.keyboard.press("Escape");
    await story.look(page, "chat");
    const { data } = await shop.client.listChatMessages({ id: shop.id, jid: BIA });
    expect(data.map(({ text }) => text)).toEqual([
      "Thank you!",
      "I am looking\nOne moment, please.",
      LONG_MESSAGE,
    ]);
  });

  test("replies to four chats from the open list with 12 keystrokes besides the texts", async () => {
    const shop = await story.gateway.connectInstance({ name: "Monday" });
    const waiting = ["5511977771241", "5511977771242", "5511977771243", "5511977771244"];
    const answer = "Yes, it is.";
    for (const number of waiting) await write(shop, "Is it ready?", number, `Customer ${number.slice(-1)}`);
    const page = await openChats("Monday");
    for (let place = 0; place < waiting.length; place++) await chat(page, `Customer ${place + 1}`).waitFor();
    await page.evaluate("keys = 0; addEventListener('keydown', () => { keys += 1; }, true)");
    for (const _ of waiting) {
      const before = page.url();
      await page.keyboard.press("Alt+ArrowDown");
      await expect.poll(() => page.url()).not.toBe(before);
      await bubble(page, "Is it ready?").waitFor();
      await expect.poll(() => field(page).evaluate((one) => one.matches(":focus"))).toBe(true);
      await story.type(page, answer);
      await page.keyboard.press("Enter");
      await bubble(page, answer).getByText("Read", { exact: true }).waitFor();
    }
    expect((await page.evaluate<number>("keys")) - waiting.length * answer.length).toBe(12);
    await page.keyboard.press("Alt+ArrowDown");
    await page.getByText("No other chat is unread.").waitFor();
    for (const jid of waiting) {
      const { data } = await shop.client.listChatMessages({ id: shop.id, jid });
      expect(data.map(({ text }) => text)).toEqual([answer, "Is it ready?"]);
    }
    const list = page.getByRole("list", { name: "Chats" }).getByRole("link");
    expect(await list.evaluateAll((links) => links.filter(({ tabIndex }) => tabIndex === 0).length)).toBe(1);
    await list.first().focus();
    await page.keyboard.press("j");
    await expect.poll(() => list.nth(1).evaluate((one) => one.matches(":focus"))).toBe(true);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page
      .getByRole("searchbox", { name: "Search chats and messages" })
      .and(page.locator(":focus"))
      .waitFor();
  });

  test("reacts, replies, edits and deletes, and sees what the contact does to a message", async () => {
    const shop = await story.gateway.connectInstance({ name: "Returns" });
    const { id, client } = shop;
    const { data: first } = await write(shop, "Can I return a lamp?");
    const page = await openChats("Returns");
    await chat(page, /Bia Souza/).click();
    await act(page, "Can I return a lamp?", "React with 👍");
    await bubble(page, "Can I return a lamp?").getByText("👍: You").waitFor({ state: "attached" });
    await act(page, "Can I return a lamp?", "Reply");
    await send(page, "Within 30 days, yse");
    const own = bubble(page, "Within 30 days");
    await own.getByText("Can I return a lamp?").waitFor();
    await own.getByText("Read", { exact: true }).waitFor({ state: "attached" });
    await act(page, "Within 30 days", "Edit");
    await expectValue(page, "Within 30 days, yse");
    await field(page).fill("Within 30 days, yes");
    await page.getByRole("button", { name: "Save the edit" }).click();
    await bubble(page, "Within 30 days, yes").getByText("edited").waitFor();
    const { data: messages } = await client.listChatMessages({ id, jid: BIA });
    const message_id = messages[0]?.message_id ?? "";
    await client.sandboxReact({ id, from: BIA, message_id, reaction: "🎉" });
    await bubble(page, "Within 30 days")
      .getByText(/^🎉: (?!You)/)
      .waitFor({ state: "attached" });
    await story.look(page, "chat-reactions");
    await client.sandboxEdit({
      id,
      from: BIA,
      message_id: first.message_id,
      text: "Can I return two lamps?",
    });
    await bubble(page, "Can I return two lamps?").getByText("edited").waitFor();
    await client.sandboxDelete({ id, from: BIA, message_id: first.message_id });
    await bubble(page, "This message was deleted.").waitFor();
    await act(page, "Within 30 days", "Delete for everyone");
    await page.getByText("It disappears from the phones of all in this chat.").waitFor();
    await page.getByRole("button", { name: "Delete it", exact: true }).first().click();
    await bubble(page, "Within 30 days").waitFor({ state: "detached" });
    expect(await bubble(page, "This message was deleted.").count()).toBe(2);
  });

  test("reads a message with WhatsApp's formatting, even a hostile one", async () => {
    const shop = await story.gateway.connectInstance({ name: "Formats" });
    const { id } = shop;
    await write(
      shop,
      "*Order 2041* is _late_.\n> Where is it?\n- lamp\n1. call https://a.example/x_y_z\n```npm\ni```",
    );
    const page = await openChats("Formats");
    const preview = chat(page, /Order 2041 is late\.\s+Where is it\?\s+• lamp\s+1\. call/);
    await preview.click();
    const message = bubble(page, "Order 2041");
    const texts = (tag: string) => message.locator(`.message-text ${tag}`).allTextContents();
    await message.locator("strong").waitFor();
    const tags = ["strong", "em", "blockquote", "ul li", "ol li a", "pre"];
    expect(await Promise.all(tags.map(texts))).toEqual([
      ["Order 2041"],
      ["late"],
      ["Where is it?"],
      ["lamp"],
      ["https://a.example/x_y_z"],
      ["npm\ni"],
    ]);
    expect(await message.getByRole("link").getAttribute("rel")).toBe("noopener noreferrer");
    await story.look(page, "chat-formats");
    const hostile = "<img src=x onerror=alert(1)> javascript:alert(1) 2*3*4 *open";
    await write(shop, hostile);
    await bubble(page, "onerror").waitFor();
    expect(await bubble(page, "onerror").locator(".message-text").innerHTML()).not.toMatch(/<(img|a|strong)/);
    expect(await bubble(page, "onerror").locator(".message-text").textContent()).toBe(hostile);
    expect((await shop.client.listChatMessages({ id, jid: BIA })).data[0]?.text).toBe(hostile);
  });

  async function expectValue(page: Page, text: string): Promise<void> {
    await expect.poll(() => field(page).inputValue()).toBe(text);
  }

  test("sends pictures, voice, a place and a card, and sees the contact's files", async () => {
    const shop = await story.gateway.connectInstance({ name: "Media" });
    const { id, client } = shop;
    const media = {
      base64: blackPng(160).toString("base64"),
      type: "image" as const,
      mime_type: "image/png",
      caption: "The lamp",
    };
    await client.sandboxReceive({ id, from: BIA, push_name: "Bia Souza", media });
    const page = await openChats("Media");
    await chat(page, /Bia Souza.*Picture: The lamp/).click();
    const picture = bubble(page, "The lamp").getByRole("img", { name: "Picture: The lamp" });
    await picture.waitFor();
    await expect
      .poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(160);
    await page.getByRole("button", { name: "Attach" }).click();
    await page
      .getByLabel("Picture, video or file")
      .first()
      .setInputFiles(
        ["receipt.png", "lamp.png"].map((name) => ({ name, mimeType: "image/png", buffer: blackPng(80) })),
      );
    await page.getByRole("button", { name: "Remove lamp.png" }).waitFor();
    await page.getByRole("textbox", { name: "Caption" }).fill("Your receipt");
    await story.look(page, "chat-attach");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await bubble(page, "Your receipt").getByRole("img", { name: "Picture: Your receipt" }).waitFor();
    await page.getByRole("button", { name: "Location" }).click();
    await page.getByLabel("Latitude").fill("91");
    await page.getByLabel("Longitude").fill("-46.65");
    const place = page.getByRole("dialog", { name: "Send a location" });
    await place.getByRole("button", { name: "Send" }).click();
    await place.getByText("Latitude is a number from -90 to 90").waitFor();
    await page.getByLabel("Latitude").fill("-23.56");
    await page.getByLabel("Name of the place").fill("Shop at Paulista");
    await place.getByRole("button", { name: "Send" }).click();
    await bubble(page, "Shop at Paulista").getByRole("link", { name: "Open on a map" }).waitFor();
    await page.getByRole("button", { name: "Contact card" }).click();
    const card = page.getByRole("dialog", { name: "Send a contact card" });
    await card.getByLabel("Name").fill("Caio Lima");
    await card.getByLabel("Number").fill("5511966661234");
    await card.getByRole("button", { name: "Send" }).click();
    await bubble(page, "Caio Lima").waitFor();
    await story.look(page, "chat-kinds");
    const { data } = await client.listChatMessages({ id, jid: BIA });
    expect(data.map(({ type }) => type)).toEqual(["contact", "location", "image", "image", "image"]);
  });

  test("records a voice message, and sends or discards it", needs("ffmpeg"), async () => {
    const shop = await story.gateway.connectInstance({ name: "Voice" });
    await write(shop, "Call me");
    const page = await openChats("Voice");
    await chat(page, /Bia Souza/).click();
    await page.getByRole("button", { name: "Attach" }).click();
    await story.press(page, "Record a voice message");
    await page.getByText("The browser does not give access to a microphone.").waitFor();
    await page.context().grantPermissions(["microphone"]);
    await story.press(page, "Record a voice message");
    await page.getByText("Recording 0:01").waitFor();
    await story.look(page, "chat-recording");
    await story.press(page, "Send the voice message");
    await bubble(page, /Voice message · \d+/).waitFor();
    await story.press(page, "Record a voice message");
    await story.press(page, "Discard it");
    await page.getByRole("button", { name: "Record a voice message" }).waitFor();
    const { data } = await shop.client.listChatMessages({ id: shop.id, jid: BIA, direction: "outbound" });
    expect(data.map(({ type, media }) => [type, media?.mime_type])).toEqual([
      ["ptt", "audio/ogg; codecs=opus"],
    ]);
  });

  test("reads why a message failed and sends it again, and sees that a message with a lost response was accepted", async () => {
    const shop = await story.gateway.connectInstance({ name: "Failures" });
    const { id, client } = shop;
    await write(shop, "Hello", REFUSED, "Rui");
    await write(shop, "Hello", UNREAD, "Ana");
    const page = await openChats("Failures");
    await chat(page, /Rui/).click();
    await send(page, "Will be refused");
    const failed = bubble(page, "Will be refused");
    await failed.getByRole("button", { name: "Send again" }).waitFor();
    await story.look(page, "chat-failed");
    await failed.getByRole("button", { name: "Send again" }).click();
    await expect.poll(() => bubble(page, "Will be refused").count()).toBe(2);
    await chat(page, /Ana/).click();
    await page.route("**/send-text", (route) => route.abort());
    const once = bubble(page, "Only once");
    await send(page, "Only once");
    await once.getByText("The gateway cannot be reached.").waitFor();
    await page.unroute("**/send-text");
    await page.route("**/send-text", async (route) => {
      // The gateway accepts the request, but the response is lost.
      await route.fetch();
      await route.abort();
    });
    await page.getByRole("button", { name: "Try again" }).click();
    // The events show that it was accepted.
    await once.getByText("Delivered", { exact: true }).waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Try again" }).waitFor({ state: "detached" });
    expect(await once.count()).toBe(1);
    const { data } = await client.listChatMessages({ id, jid: UNREAD, direction: "outbound" });
    expect(data.map(({ text, status }) => [text, status])).toEqual([["Only once", "delivered"]]);
    await client.sandboxRead({ id, from: UNREAD, message_id: data[0]?.message_id ?? "" });
    await once.getByText("Read", { exact: true }).waitFor({ state: "attached" });
    // The outbox is empty, also where the message itself is not shown.
    await page.getByRole("searchbox", { name: "Search chats and messages" }).fill("Hello");
    await page.getByRole("link", { name: /Ana.*Hello/ }).click();
    await page.getByRole("link", { name: "Show newer messages" }).waitFor();
    await bubble(page, "Hello").waitFor();
    expect(await once.count()).toBe(0);
    await page.getByRole("link", { name: "Show newer messages" }).click();
    await once.waitFor();
  });

  test("shows an accepted message once and keeps its receipt when the response arrives after the events", async () => {
    const shop = await story.gateway.connectInstance({ name: "Slow line" });
    await write(shop, "Hello");
    const page = await openChats("Slow line");
    await chat(page, /Bia Souza/).click();
    const sent = bubble(page, "On my way");
    const read = sent.getByText("Read", { exact: true });
    let reads = 0;
    await page.route(/\/messages\/[^/?]+$/, async (route) => {
      reads += 1;
      if (reads > 1) return route.continue();
      const messageId = route.request().url().split("/").at(-1) ?? "";
      const { data } = await shop.client.getMessage({ id: shop.id, messageId });
      await read.waitFor({ state: "attached" });
      expect(await sent.count()).toBe(1);
      await route.fulfill({ json: { success: true, message: "Message", data: { ...data, status: "sent" } } });
    });
    await send(page, "On my way");
    await expect.poll(() => reads).toBe(2);
    await page.getByText("Sending", { exact: true }).waitFor({ state: "detached" });
    expect([await sent.count(), await read.count()]).toEqual([1, 1]);
  });

  test("finds chats and messages, filters the list, and pins and archives a chat", async () => {
    const shop = await story.gateway.connectInstance({ name: "Search" });
    await write(shop, "The blue teapot is broken");
    for (let more = 0; more < 5; more++) await write(shop, `Later ${more}`);
    await write(shop, "Hello there", UNREAD, "Ana");
    await write(shop, "Good morning", "5511977771251", "Later Leo");
    const page = await openChats("Search");
    const search = page.getByRole("searchbox", { name: "Search chats and messages" });
    await search.fill("bia");
    await chat(page, /Ana/).waitFor({ state: "detached" });
    await search.fill("later");
    const found = page.locator(".chat-scroll").getByRole("link");
    await expect.poll(() => found.count()).toBe(6);
    await found.first().focus();
    await page.keyboard.press("End");
    await found.last().and(page.locator(":focus")).waitFor();
    expect(await found.evaluateAll((links) => links.filter(({ tabIndex }) => tabIndex === 0).length)).toBe(1);
    await page.keyboard.press("Escape");
    await search.and(page.locator(":focus")).waitFor();
    await search.fill("teapot");
    await page.getByRole("link", { name: /The blue teapot is broken/ }).click();
    await bubble(page, "The blue teapot").waitFor();
    expect(await bubble(page, "Later 4").count()).toBe(0);
    await story.look(page, "chat-search");
    await page.getByRole("link", { name: "Show newer messages" }).click();
    await bubble(page, "Later 4").waitFor();
    await search.fill("");
    await page.getByRole("link", { name: "Contact", exact: true }).click();
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await chat(page, /Bia Souza.*Pinned/).waitFor();
    await expect.poll(() => chat(page, /./).first().textContent()).toContain("Bia Souza");
    await page.getByRole("button", { name: "Archive", exact: true }).click();
    await chat(page, /Bia Souza/).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Archived", exact: true }).click();
    await chat(page, /Bia Souza.*Archived/).waitFor();
    await page.getByRole("button", { name: "Unread", exact: true }).click();
    await chat(page, /Ana/).waitFor();
    await page.getByRole("button", { name: "Groups", exact: true }).click();
    await page.getByText("Nothing found").waitFor();
  });

  test("creates a lead for the contact with fields, notes, an opt-out and a consent", async () => {
    const shop = await story.gateway.connectInstance({ name: "Customers" });
    const { owner } = story.gateway;
    await owner.createCustomField({ name: "city" });
    await write(shop, "Hello");
    const page = await openChats("Customers");
    await chat(page, /Bia Souza/).click();
    await page.getByRole("link", { name: "Contact", exact: true }).click();
    await page.getByRole("button", { name: "Create a contact" }).click();
    await page.getByRole("button", { name: "Edit the contact" }).click();
    await page.getByLabel("Tags").fill("customer, wholesale");
    await page.getByLabel("city").fill("Recife");
    await story.look(page, "lead-form");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Recife").waitFor();
    await page.getByLabel("New note, for the team alone").fill("Prefers to be called in the morning.");
    await page.getByRole("button", { name: "Add the note" }).click();
    await page.getByText("Prefers to be called").waitFor();
    await page.getByRole("button", { name: "Opt out of campaigns" }).click();
    await page.getByText("Has opted out").waitFor();
    await page.getByRole("button", { name: "Record a consent" }).click();
    await page.getByLabel("Purpose").fill("offers");
    await page.getByRole("button", { name: "Record it" }).click();
    await page.getByText("offers: granted").waitFor();
    await story.look(page, "chat-contact");
    const { data } = await owner.listLeads({ q: BIA });
    expect(data).toMatchObject([
      { name: "Bia Souza", tags: ["customer", "wholesale"], custom_fields: { city: "Recife" } },
    ]);
    expect(data[0]?.opted_out_at).not.toBeNull();
  });

  test("plays the other side of a sandbox, in a chat and on the network", async () => {
    await story.gateway.connectInstance({ name: "Stage" });
    const page = await openChats("Stage");
    await page.getByRole("button", { name: "New chat" }).click();
    const dialog = page.getByRole("dialog", { name: "New chat" });
    await dialog.getByLabel("Number").fill("(11) 97777-0000");
    await dialog.getByText("The country code seems to be missing.").waitFor();
    await story.look(page, "new-chat-without-country");
    await dialog.getByLabel("Number").fill(MISSING);
    await dialog.getByText("With country and area code").waitFor();
    await dialog.getByRole("button", { name: "Check and open" }).click();
    await dialog.getByText("This number is not on WhatsApp.").waitFor();
    await dialog.getByLabel("Number").fill(UNREAD);
    await dialog.getByRole("button", { name: "Check and open" }).click();
    await page.getByText("Write the first one below.").waitFor();
    await send(page, "Are you there?");
    await bubble(page, "Are you there?")
      .getByText("Delivered", { exact: true })
      .waitFor({ state: "attached" });
    await page.getByRole("link", { name: "Sandbox", exact: true }).click();
    await page.getByLabel("Text of the contact").fill("I am");
    await page.getByRole("button", { name: "Send as the contact" }).click();
    await bubble(page, "I am").waitFor();
    await act(page, "Are you there?", "Read it");
    await bubble(page, "Are you there?").getByText("Read", { exact: true }).waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Let the contact call" }).click();
    await page.getByText("The contact is calling.").waitFor();
    await story.look(page, "chat-sandbox");
    await page.getByRole("button", { name: "Drop the line" }).click();
    await page.getByText("The line was dropped.").waitFor();
    await page.getByRole("button", { name: "Ban the number" }).click();
    await page.getByRole("button", { name: "Ban it" }).click();
    await page.getByText("Nothing can be sent before a phone is linked").waitFor();
    await field(page).fill("Still there?");
    await field(page).press("Enter");
    expect(await field(page).inputValue()).toBe("Still there?");
    expect(await page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
    await act(page, "I am", "React with 👍");
    await page.getByText("The instance is not connected, so this was not done.").waitFor();
    await page.keyboard.press("Escape");
    await page
      .getByRole("region", { name: "Write a message" })
      .getByRole("link", { name: "Link the phone" })
      .click();
    await page.waitForURL(/\/link$/);
  });

  test("uses a quick reply by its shortcut, and sees each sender in a group", async () => {
    const shop = await story.gateway.connectInstance({ name: "Groups" });
    const { id, client } = shop;
    await story.gateway.owner.saveQuickReply({
      shortcut: "hours",
      content: "{{NAME}}: open from 9 to 18, code {{code}}.",
    });
    const { data: group } = await client.sandboxGroup({ id, from: BIA, subject: "Wholesale" });
    const group_jid = group.jid;
    await client.sandboxReceive({
      id,
      from: BIA,
      push_name: "Bia Souza",
      group_jid,
      text: "When do you open?",
    });
    const page = await openChats("Groups");
    await chat(page, /Wholesale.*Bia Souza: When do you open/).click();
    await bubble(page, "When do you open?").getByText("Bia Souza").waitFor();
    await field(page).fill("/ho");
    await page.getByRole("option", { name: /hours/ }).waitFor();
    await story.look(page, "chat-quick-reply");
    await page.keyboard.press("Enter");
    await expectValueOf(page, "Wholesale: open from 9 to 18, code {{code}}.");
    await page.keyboard.press("Enter");
    await bubble(page, "open from 9 to 18").waitFor();
    await story.gateway.owner.saveQuickReply({ shortcut: "ty", content: "Thank you, {{name}}!" });
    await page.reload();
    await field(page).fill("/ty");
    await page.getByRole("option", { name: /ty/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await bubble(page, "Thank you, Wholesale!").waitFor();
    await field(page).fill("/hours ");
    await page.keyboard.press("Enter");
    await expectValueOf(page, "Wholesale: open from 9 to 18, code {{code}}.");
    await field(page).fill("");
    await act(page, "open from 9 to 18", "Who has read it");
    await page.getByText(/have received it/).waitFor();
  });

  async function expectValueOf(page: Page, text: string): Promise<void> {
    await expect.poll(() => page.getByLabel("Message", { exact: true }).inputValue()).toBe(text);
  }

  test("goes from the list to a chat and back on a phone", async () => {
    const shop = await story.gateway.connectInstance({ name: "Pocket" });
    await write(shop, LONG_MESSAGE);
    const page = await openChats("Pocket", PHONE);
    await chat(page, /Bia Souza/).waitFor();
    await story.look(page, "chats");
    await chat(page, /Bia Souza/).click();
    await bubble(page, "My order 2041").waitFor();
    expect(await chat(page, /Bia Souza/).isVisible()).toBe(false);
    await story.look(page, "chat");
    await page.getByRole("link", { name: "Contact", exact: true }).click();
    await page.getByRole("heading", { name: "This chat" }).waitFor();
    await story.look(page, "chat-contact");
    await page.getByRole("link", { name: "Close" }).click();
    await page.getByRole("link", { name: "Back to the chats" }).click();
    await chat(page, /Bia Souza/).waitFor();
  });

  test.each([
    ["pt-BR", "Idiomas", "Conversas"],
    ["es", "Idiomas", "Conversaciones"],
  ])("reads the chats in %s", async (locale, open, title) => {
    const shop = await story.gateway.connectInstance({ name: "Idiomas" });
    await write(shop, LONG_MESSAGE);
    const page = await story.openPage(PHONE, locale);
    await story.signIn(page, "instances");
    await page.getByRole("link", { name: open, exact: true }).first().click();
    await page.getByRole("link", { name: title }).click();
    await page.getByRole("link", { name: /Bia Souza/ }).click();
    await page.getByText("My order 2041").waitFor();
    await story.look(page, `chat-${locale}`);
  });
});
