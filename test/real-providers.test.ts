import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type IntegrationStory, newPerson, startIntegrationStory } from "./integration-story.ts";

/** Programs that a developer runs beside the tests, as in docs/contributing/real-programs.md. */
const { TYPEBOT_URL, TYPEBOT_PUBLIC_ID = "waygate-test" } = process.env;

describe("real providers", () => {
  let story: IntegrationStory;

  beforeAll(async () => {
    if (TYPEBOT_URL) story = await startIntegrationStory();
  });
  afterAll(() => story?.stop());

  test.skipIf(!TYPEBOT_URL)(
    "a bot of Typebot replies (skipped without TYPEBOT_URL, a viewer with a published bot TYPEBOT_PUBLIC_ID)",
    async () => {
      const { client, id } = story.shop;
      const config = { base_url: TYPEBOT_URL, public_id: TYPEBOT_PUBLIC_ID };
      await client.saveIntegration({ id, provider: "typebot", config });
      expect((await client.testIntegration({ id, provider: "typebot" })).data).toMatchObject({
        success: true,
      });
      const ana = newPerson();
      await story.receive(ana, "Hi");
      expect(await story.receivedBy(ana, 1)).not.toEqual([]);
    },
  );
});
