import { expect, test } from "vitest";
import { setUpChatwootStory } from "../../../../test/chatwoot-story.ts";
import { SAMPLE } from "../../../../test/sample-files.ts";

const story = setUpChatwootStory({ WAYGATE_FFMPEG: "/nowhere/ffmpeg" });
const { chatwoot } = story;

test("without ffmpeg an agent's recording is sent as audio, and the integration reports why", async () => {
  await story.save();
  const bia = { name: "Bia", identifier: null, phone_number: "+5521977770041" };
  const { id } = chatwoot.startConversation(bia);
  chatwoot.record(id, SAMPLE.mp3);
  const [sent] = await story.waitForSent(1);
  expect(sent?.content).toMatchObject({ media_type: "audio", mime_type: "audio/mpeg" });
  const { data } = await story.shop.client.getIntegration({ id: story.shop.id, provider: "chatwoot" });
  expect(data.last_error).toMatch(/as an audio file, not as a voice note: ffmpeg.*WAYGATE_FFMPEG/);
});

test("a recording that needs no conversion is sent as a voice note without ffmpeg", async () => {
  await story.save();
  const bia = { name: "Bia", identifier: null, phone_number: "+5521977770042" };
  const { id } = chatwoot.startConversation(bia);
  const attachments = [{ bytes: SAMPLE.opus, type: "audio/ogg", file_name: "note.ogg" }];
  chatwoot.write(id, { attachments });
  const [sent] = await story.waitForSent(1);
  expect(sent?.content).toMatchObject({ media_type: "ptt" });
});
