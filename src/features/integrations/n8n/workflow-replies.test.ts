import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import { type FileServer, startFileServer } from "../../../../test/servers/file-server.ts";
import { newPerson } from "../../../../test/stories/integration-story.ts";
import { setUpN8nStory } from "../../../../test/stories/n8n-story.ts";
import { openOwnFile } from "../open-own-file.ts";

describe("a workflow's response", () => {
  const fixture = setUpN8nStory();
  let files: FileServer;

  beforeAll(async () => {
    files = await startFileServer();
  });
  afterAll(() => files.close());

  function answer(output: unknown, type?: string) {
    fixture.n8n.activate("in", { respond: "responseNode", output, ...(type && { type }) });
    return fixture.save("in", { reply_mode: "response" });
  }

  test("reaches the chat as a file if it is a file", async () => {
    await answer(SAMPLE.png, "image/png");
    const ana = newPerson();
    await fixture.story.receive(ana, "hi");
    expect(await fixture.story.receivedBy(ana, 1)).toEqual(["[image]"]);
  });

  test("reaches the chat as a document if it is not a picture, audio or video", async () => {
    await answer(Buffer.from("PK\u0003\u0004 not words"), "application/octet-stream");
    const ana = newPerson();
    await fixture.story.receive(ana, "hi");
    expect(await fixture.story.receivedBy(ana, 1)).toEqual(["[document]"]);
  });

  test("without a reply causes a warning until a response contains one", async () => {
    const { story, n8n } = fixture;
    n8n.activate("in");
    await fixture.save("in", { reply_mode: "response" });
    const ana = newPerson();
    await story.receive(ana, "hi");
    const warned = await fixture.status("warning");
    expect(warned.last_error).toMatch(/"Workflow was started".*Using 'Respond to Webhook' Node/);
    n8n.activate("in", { respond: "responseNode", output: { response: "now I do" } });
    await story.receive(ana, "hi again");
    expect(await story.receivedBy(ana, 1)).toEqual(["now I do"]);
    expect(await fixture.status("ok")).toMatchObject({ last_error_is_past: true });
  });

  test("may be the received file, which is read from the media store and not over the network", async () => {
    const { story, n8n } = fixture;
    await answer([]);
    const [ana, bia] = [newPerson(), newPerson()];
    const media = { base64: inBase64(SAMPLE.png), mime_type: "image/png", caption: "look" };
    await story.receive(ana, "", { media });
    await fixture.executed(1);
    const { mediaUrl } = n8n.executions[0]?.body ?? {};
    const { pathname } = new URL(mediaUrl);
    // Behind a proxy the gateway has another host name, which it cannot call itself.
    await answer([{ output: "before" }, { mediaUrl: `http://127.0.0.1:1${pathname}`, caption: "back" }]);
    await story.receive(bia, "hi");
    expect(await story.receivedBy(bia, 2)).toEqual(["before", "back"]);
    expect((await fixture.status("ok")).last_error).toBeNull();
  });

  test("cannot contain the file of another account by its link", async () => {
    const { story, n8n } = fixture;
    await answer([]);
    const media = { base64: inBase64(SAMPLE.png), mime_type: "image/png", caption: "mine" };
    await story.receive(newPerson(), "", { media });
    await fixture.executed(1);
    const link: string = n8n.executions[0]?.body.mediaUrl;
    const { data } = await story.gateway.owner.me();
    const { pathname } = new URL(link);
    const openFile = () => Promise.reject(new Error("opened"));
    const deps = {
      db: story.gateway.database.db,
      mediaUrls: { create: () => "", isGood: () => true },
      openFile,
    };
    await expect(openOwnFile(deps, link, data.account.id + 1)).rejects.toThrow("There is no such file.");
    for (const own of [link, `${link}/file.png`, pathname, `${pathname}/file.png`])
      await expect(openOwnFile(deps, own, data.account.id)).rejects.toThrow("opened");
    const forged = { ...deps, mediaUrls: { ...deps.mediaUrls, isGood: () => false } };
    expect(await openOwnFile(forged, link, data.account.id)).toBeUndefined();
    expect(await openOwnFile(deps, `${link}/too/deep.png`, data.account.id)).toBeUndefined();
    expect(await openOwnFile(deps, "https://a.example/media/other.png", data.account.id)).toBeUndefined();
  });

  test("that breaks off is a failure, and the workflow runs once more", async () => {
    const { story, n8n } = fixture;
    await answer({ output: "whole again" });
    n8n.trouble("break_off");
    const ana = newPerson();
    await story.receive(ana, "hi");
    expect((await fixture.status("failing")).last_error).toMatch(/incomplete.*runs at most twice/);
    await story.gateway.advance(60_000);
    expect(await story.receivedBy(ana, 1)).toEqual(["whole again"]);
    expect(n8n.executions).toHaveLength(2);
  });

  test("that is too large causes a warning", async () => {
    await answer("x".repeat(300 * 1024), "text/plain");
    const ana = newPerson();
    await fixture.story.receive(ana, "hi");
    expect((await fixture.status("warning")).last_error).toMatch(/too large: the limit is 256 KB/);
    expect(fixture.n8n.executions).toHaveLength(1);
  });

  test("never reveals the secret parts of a file's address", async () => {
    const signed = `http://127.0.0.1:1/media/med_01/1795957346/${"k".repeat(43)}/file.png?token=secret`;
    await answer([{ mediaUrl: signed }, { output: "after" }]);
    const ana = newPerson();
    await fixture.story.receive(ana, "hi");
    expect(await fixture.story.receivedBy(ana, 1)).toEqual(["after"]);
    const { last_error } = await fixture.status("warning");
    expect(last_error).toContain("http://127.0.0.1:1/media/med_01/1795957346/.../file.png");
    expect(last_error).not.toMatch(/kkk|secret/);
  });

  test.each([
    [{ mediaUrl: "http://127.0.0.1:1/nope.png", caption: "broken" }, ["broken", "after"]],
    [{ mediaUrl: "http://127.0.0.1:1/nope.png" }, ["after"]],
  ])("never reveals the address of a file that cannot be fetched: %j", async (first, texts) => {
    await answer([first, { output: "after" }]);
    const ana = newPerson();
    await fixture.story.receive(ana, "hi");
    expect(await fixture.story.receivedBy(ana, texts.length)).toEqual(texts);
    expect((await fixture.status("warning")).last_error).toMatch(
      /The file http:.*nope\.png of the reply was not sent/,
    );
  });

  test("is shown by the integration test together with the replies it contains", async () => {
    await answer([{ output: "one" }, { mediaUrl: "https://a.example/b.png", caption: "two" }]);
    expect(await fixture.test()).toMatchObject({
      success: true,
      message: "The workflow accepted the event. Its response contains 2 message(s) for the chat.",
      details: {
        content_type: "application/json; charset=utf-8",
        answer: expect.stringContaining("one"),
        would_send: [{ text: "one" }, { media_url: "https://a.example/b.png", text: "two" }],
      },
    });
    fixture.n8n.activate("in");
    expect(await fixture.test()).toMatchObject({
      success: true,
      message: expect.stringMatching(
        /accepted the event\. n8n responded with "Workflow was started".*Set Respond/,
      ),
      details: { would_send: [] },
    });
    const { body } = fixture.n8n.executions.at(-1) ?? {};
    expect(body).toMatchObject({ event: "integration.test", remoteJid: null, number: null });
    expect(body.chatInput).not.toBe("");
  });
});
