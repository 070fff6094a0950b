import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SAMPLE } from "../../../../../test/sample-files.ts";
import { type FileServer, file, redirect, startFileServer } from "../../../../../test/servers/file-server.ts";
import { type MessagingStory, startMessagingStory } from "../../../../../test/stories/messaging-story.ts";

let story: MessagingStory;
let files: FileServer;

beforeAll(async () => {
  story = await startMessagingStory();
  files = await startFileServer();
});

afterAll(async () => {
  await files.close();
  await story.stop();
});

type Outcome = Record<string, unknown>;

/** The stored file of a send, with what the response says of its conversion; or the refusal. */
async function send(input: object): Promise<Outcome> {
  const { sales, friend } = story;
  try {
    const { data } = await sales.client.sendMedia({ id: sales.id, number: friend.phone, ...input } as never);
    const { type, mime_type, file_name } = (await story.outcome(data.message_id ?? "")).data.message.media;
    const { converted, hint } = data;
    return {
      type,
      mime_type,
      file_name,
      ...(converted && { converted: [converted.from, converted.to] }),
      ...(hint && { hint }),
    };
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { code, message };
  }
}

const PAGE = Buffer.from(
  "<!DOCTYPE html>\n<html><head><title>Sign in &amp; go on</title></head><body>...</body></html>",
);
const WITHOUT_TITLE = Buffer.from("\ufeff  <!-- a --><html lang=en><body>Not here</body></html>");
const TABLE = Buffer.from("<html><body><table><tr><td>1</td></tr></table></body></html>");

describe("a page at the address of a file", () => {
  const at = (path: string, bytes: Buffer, type: string, more = {}) => ({
    url: files.serve(path, file(bytes, type)),
    ...more,
  });

  test.each<[string, () => object, string]>([
    [
      "named as a PDF",
      () => at("/invoice.pdf", PAGE, "text/html; charset=utf-8"),
      'the page "Sign in & go on"',
    ],
    [
      "for sharing",
      () => at("/file/d/1x2/view?usp=sharing", PAGE, "text/html"),
      'the page "Sign in & go on"',
    ],
    ["of a picture", () => at("/photo", PAGE, "text/html", { type: "image" }), 'the page "Sign in & go on"'],
    ["of a document", () => at("/a", PAGE, "text/html", { type: "document" }), 'the page "Sign in & go on"'],
    ["with the type of a PDF", () => at("/b.pdf", PAGE, "application/pdf"), 'the page "Sign in & go on"'],
    ["without a type", () => at("/c.mp4", PAGE, "application/octet-stream"), 'the page "Sign in & go on"'],
    ["without a title", () => at("/d.png", WITHOUT_TITLE, "image/png"), "a page"],
    ["that is plain words", () => at("/e.zip", Buffer.from("Not found"), "text/html"), "a page"],
    [
      "that the caller names",
      () => at("/f", PAGE, "text/html", { file_name: "offer.pdf" }),
      'the page "Sign in & go on"',
    ],
    [
      "with a type of the caller",
      () => at("/g.html", PAGE, "text/html", { mime_type: "application/pdf" }),
      'the page "Sign in & go on"',
    ],
    [
      "after a redirect",
      () => {
        files.serve("/sign-in.html", file(PAGE, "text/html"));
        return { url: files.serve("/h.pdf", redirect("/sign-in.html")) };
      },
      'the page "Sign in & go on"',
    ],
  ])("%s is refused with its title", async (_, input, page) => {
    const { code, message } = await send(input());
    expect(code).toBe("VALIDATION_ERROR");
    expect(message).toContain(`url: returns ${page} instead of a file`);
  });

  test.each<[string, () => object, string]>([
    ["its address names one", () => at("/terms.html", PAGE, "text/html"), "text/html"],
    ["the caller's name says so", () => at("/i", PAGE, "text/html", { file_name: "terms.htm" }), "text/html"],
    ["the caller's type says so", () => at("/j", PAGE, "text/html", { mime_type: "text/html" }), "text/html"],
    [
      "it is a table of a spreadsheet",
      () => at("/k.xls", TABLE, "application/vnd.ms-excel"),
      "application/vnd.ms-excel",
    ],
    [
      "it is a text that only its server calls a page",
      () => at("/l.csv", SAMPLE.text, "text/html"),
      "text/html",
    ],
    [
      "it is a PDF that only its server calls a page",
      () => at("/m", SAMPLE.pdf, "text/html"),
      "application/pdf",
    ],
  ])("is sent when %s", async (_, input, mime_type) => {
    expect(await send(input())).toMatchObject({ type: "document", mime_type });
  });
});
