import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WhatsAppControl } from "./control.ts";
import { connectControl, serveControl } from "./remote-control.ts";
import { eventually, Story } from "./story.ts";

describe("control over HTTP", () => {
  let story: Story;
  let control: WhatsAppControl;
  let close: () => Promise<void>;

  beforeEach(async () => {
    story = await Story.start();
    const served = await serveControl(story.server);
    close = served.close;
    control = connectControl(served.url);
  });

  afterEach(async () => {
    await close();
    await story.end();
  });

  it("does the same as in the process, with bytes and errors", async () => {
    const client = await story.paired();
    const bia = await control.addPerson({ name: "Bia" });
    const bytes = Buffer.from([0, 1, 254, 255]);
    const file = { kind: "media", media_type: "image", mime_type: "image/png", bytes } as const;
    const id = await control.sendMessage(bia.phone, story.ana.phone, file);
    await eventually(async () => expect(await control.file(story.ana.phone, id)).toEqual(bytes));
    await control.sendMessage(bia.phone, story.me.phone, "over HTTP");
    await eventually(() => expect(client.texts()).toEqual(["over HTTP"]));
    expect((await control.ledger()).sockets).toHaveLength(2);
    expect(await control.arrivals("unknown")).toBe(0);
    await expect(control.person("123")).rejects.toThrow("nobody on the network is 123");
  });
});
