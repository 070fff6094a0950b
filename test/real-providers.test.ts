import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type IntegrationStory, newPerson, startIntegrationStory } from "./integration-story.ts";

/** Programs that somebody runs beside the tests, with what docs/integrations.md says of them. */
const { N8N_URL, N8N_TOKEN, TYPEBOT_URL, TYPEBOT_PUBLIC_ID = "waygate-test" } = process.env;

describe("real providers", () => {
  let story: IntegrationStory;

  beforeAll(async () => {
    if (N8N_URL || TYPEBOT_URL) story = await startIntegrationStory();
  });
  afterAll(() => story?.stop());

  test.skipIf(!N8N_URL)(
    "n8n takes a signed event, and its answer comes back (skipped without N8N_URL, the production URL of docs/n8n/answer.json)",
    async () => {
      const { client, id } = story.shop;
      const config = { webhook_url: N8N_URL, token: N8N_TOKEN, reply_mode: "response" };
      await client.saveIntegration({ id, provider: "n8n", config });
      expect((await client.testIntegration({ id, provider: "n8n" })).data).toMatchObject({ success: true });
      const ana = newPerson();
      await story.say(ana, "Olá");
      expect((await story.heard(ana, 1))[0]).toContain("Olá");
    },
  );

  test.skipIf(!TYPEBOT_URL)(
    "a bot of Typebot answers (skipped without TYPEBOT_URL, a viewer with a published bot TYPEBOT_PUBLIC_ID)",
    async () => {
      const { client, id } = story.shop;
      const config = { base_url: TYPEBOT_URL, public_id: TYPEBOT_PUBLIC_ID };
      await client.saveIntegration({ id, provider: "typebot", config });
      expect((await client.testIntegration({ id, provider: "typebot" })).data).toMatchObject({
        success: true,
      });
      const ana = newPerson();
      await story.say(ana, "Hi");
      expect(await story.heard(ana, 1)).not.toEqual([]);
    },
  );
});
