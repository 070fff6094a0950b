import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type FileServer, startFileServer } from "../../../../test/file-server.ts";
import {
  type IntegrationStory,
  newPerson,
  startIntegrationStory,
  waitUntil,
} from "../../../../test/integration-story.ts";
import {
  ask,
  bubble,
  type FlowStep,
  startTypebot,
  type TypebotServer,
} from "../../../../test/typebot-server.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const PICTURE = { media: { base64: PNG, mime_type: "image/png" } };

/** A second of silence. */
function wav(): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + 8_000, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(8_000, 40);
  return Buffer.concat([head, Buffer.alloc(8_000, 128)]);
}

describe("a bot on a gateway without ffmpeg", () => {
  let story: IntegrationStory;
  let typebot: TypebotServer;
  let files: FileServer;

  beforeAll(async () => {
    [story, typebot, files] = await Promise.all([
      startIntegrationStory({ WAYGATE_FFMPEG: "/no/such/ffmpeg" }),
      startTypebot(),
      startFileServer(),
    ]);
  });
  afterAll(async () => {
    await story.stop();
    await Promise.all([typebot.shut(), files.close()]);
  });
  afterEach(async () => {
    await story.shop.client.deleteIntegration({ id: story.shop.id, provider: "typebot" }).catch(() => {});
    typebot.reset();
  });

  async function serve(flow: FlowStep[], config: Record<string, unknown> = {}) {
    typebot.publish("shop", flow);
    await story.shop.client.saveIntegration({
      id: story.shop.id,
      provider: "typebot",
      config: { base_url: typebot.url, public_id: "shop", ...config },
    });
  }

  const read = async () =>
    (await story.shop.client.getIntegration({ id: story.shop.id, provider: "typebot" })).data;

  const starts = () => typebot.requests.filter(({ path }) => path.endsWith("/startChat"));

  const talk = async (from: string, text: string, count: number, more = {}) => {
    await story.receive(from, text, more);
    return (await story.receivedBy(from, count)).slice(count - 1);
  };

  test("sends an audio bubble that cannot become a voice note as audio", async () => {
    const url = files.serve("/tone.wav", (response) =>
      response.writeHead(200, { "content-type": "audio/wav" }).end(wav()),
    );
    await serve([
      { bubble: { id: "s", type: "audio", content: { url } } },
      bubble("b", "after it"),
      ask("q"),
    ]);
    const ana = newPerson();
    await story.receive(ana, "hi");
    expect(await story.receivedBy(ana, 2)).toEqual(["[audio]", "after it"]);
  });

  test("skips pictures and audio that cannot be fetched, and reports it without the addresses", async () => {
    const flow = ["image", "audio"].map((type) => ({
      bubble: { id: type, type, content: { url: files.at(`/no-such-${type}?signature=secret`) } },
    }));
    await serve([...flow, bubble("b", "after it"), ask("q")]);
    const ana = newPerson();
    await story.receive(ana, "hi");
    expect(await story.receivedBy(ana, 1)).toEqual(["after it"]);
    const { last_error } = await read();
    expect(last_error).toContain(`The file ${files.at("/no-such-audio")} of the reply was not sent.`);
    expect(last_error).not.toContain("secret");
  });

  test("keeps the choices below a picture that cannot be fetched", async () => {
    const items = [{ id: "p1", title: "Red", pictureSrc: files.at("/no-such.png") }];
    await serve([bubble("a", "Colour?"), { input: { id: "p", type: "picture choice input", items } }]);
    const ana = newPerson();
    await story.receive(ana, "hi");
    expect(await story.receivedBy(ana, 2)).toEqual(["Colour?", "1. *Red*"]);
  });

  test("receives a whole album in one reply to an input for several files", async () => {
    const take = ask("f", "file input", { isMultipleAllowed: true });
    await serve([bubble("a", "photos?"), take, bubble("b", "thanks"), ask("t"), bubble("c", "end")]);
    const ana = newPerson();
    await talk(ana, "hi", 1);
    await Promise.all([1, 2, 3].map(() => story.receive(ana, "", PICTURE)));
    await story.gateway.advance(5_000);
    expect(await story.receivedBy(ana, 2)).toEqual(["photos?\n\n📎", "thanks"]);
    await story.waitUntilIdle();
    expect(
      typebot
        .inputs()[1]
        ?.split(", ")
        .map((url) => url.replace(/^http.*\/media\/.*\//, "")),
    ).toEqual(["file.png", "file.png", "file.png"]);
    expect(new Set(typebot.inputs()[1]?.split(", ")).size).toBe(3);
    expect(await story.receivedSoFar(ana)).toHaveLength(2);
  });

  test("uses an album's first file for a single-file input and replies once that it reads text", async () => {
    await serve([
      bubble("a", "photo?"),
      ask("f", "file input"),
      bubble("b", "name?"),
      ask("t"),
      bubble("c", "end"),
    ]);
    const ana = newPerson();
    await talk(ana, "hi", 1);
    await Promise.all([1, 2, 3].map(() => story.receive(ana, "", PICTURE)));
    await story.waitUntilIdle();
    const told = ["photo?\n\n📎", "name?", "Sorry, I can only read text here."];
    expect(await story.receivedSoFar(ana)).toEqual(told);
    expect(await talk(ana, "Ana", 4)).toEqual(["end"]);
    expect(typebot.requests).toHaveLength(3);
  });

  test("replies once to an album that it reads only text", async () => {
    await serve([bubble("a", "name?"), ask("t")]);
    const ana = newPerson();
    await talk(ana, "hi", 1);
    await Promise.all([1, 2, 3].map(() => story.receive(ana, "", PICTURE)));
    await story.waitUntilIdle();
    expect(await story.receivedSoFar(ana)).toEqual(["name?", "Sorry, I can only read text here."]);
  });

  test("joins files like texts if quick messages are joined", async () => {
    await serve(
      [bubble("a", "tell me"), ask("t", "text input", { attachments: { isEnabled: true } }), ask("u")],
      {
        debounce_ms: 5_000,
      },
    );
    const ana = newPerson();
    await story.receive(ana, "hi");
    await story.gateway.advance(6_000);
    await story.receivedBy(ana, 1);
    for (const caption of ["front", "back"])
      await story.receive(ana, "", { media: { ...PICTURE.media, caption } });
    await waitUntil(async () => {
      await story.gateway.advance(6_000);
      return typebot.requests.length === 2;
    });
    expect(typebot.requests[1]?.body.message).toMatchObject({
      text: "front\nback",
      attachedFileUrls: [expect.stringMatching(/file\.png$/), expect.stringMatching(/file\.png$/)],
    });
  });

  test("reports why a block of the flow fails, and does not restart the flow for it", async () => {
    await serve([bubble("a", "Pay?"), ask("q"), bubble("b", "paid"), ask("r")]);
    const ana = newPerson();
    await talk(ana, "hi", 1);
    const body = '{"defined":true,"code":"NOT_FOUND","status":404,"message":"Credentials not found"}';
    typebot.trouble({ status: 404, body }, 1, /continueChat/);
    await story.receive(ana, "yes");
    await waitUntil(async () => (await read()).last_error?.includes("Credentials not found"));
    expect((await read()).last_error).not.toContain("published");
    expect(await talk(ana, "yes!", 2)).toEqual(["paid"]);
    expect(starts()).toHaveLength(1);
  });

  test.each(["Session not found.", "Session expired. You need to start a new session."])(
    "reports no failure after it restarted a flow because of %j",
    async (message) => {
      await serve([bubble("a", "one"), ask("q"), bubble("b", "two"), ask("r")]);
      const ana = newPerson();
      await talk(ana, "hi", 1);
      const body = JSON.stringify({ defined: true, code: "NOT_FOUND", status: 404, message });
      typebot.trouble({ status: 404, body }, 1, /continueChat/);
      expect(await talk(ana, "more", 2)).toEqual(["one"]);
      expect(await read()).toMatchObject({ status: "ok", last_error: expect.stringContaining(message) });
    },
  );

  test.each(["lose_answer", "break_off"] as const)(
    "starts a flow once more after an incomplete response: %s",
    async (trouble) => {
      await serve([bubble("a", "one"), ask("q")]);
      const ana = newPerson();
      typebot.trouble(trouble, 1, /startChat/);
      await story.receive(ana, "hi");
      await waitUntil(() => starts().length === 1);
      await waitUntil(async () => {
        await story.gateway.advance(60_000);
        return (await story.receivedSoFar(ana)).length === 1;
      });
      expect(starts()).toHaveLength(2);
    },
  );

  test("does not start a flow a third time", async () => {
    await serve([bubble("a", "one"), ask("q")]);
    const bia = newPerson();
    typebot.trouble({ status: 500 }, 9, /startChat/);
    await story.receive(bia, "hi");
    await waitUntil(async () => {
      await story.gateway.advance(600_000);
      return (await read()).waiting === 0;
    });
    expect(starts()).toHaveLength(2);
    typebot.reset();
    expect(await talk(bia, "hello?", 1)).toEqual(["one"]);
  });
});
