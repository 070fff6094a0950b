import { expect, test } from "vitest";
import { SAMPLE } from "../../../../../test/sample-files.ts";
import { setUpChatwootStory } from "../../../../../test/stories/chatwoot-story.ts";

const story = setUpChatwootStory({ WAYGATE_FFMPEG: "/nowhere/ffmpeg" });
const { chatwoot } = story;

test("without ffmpeg a recording is sent as audio, with the reason, unless it needs no conversion", async () => {
  await story.save();
  const bia = { name: "Bia", identifier: null, phone_number: "+5521977770041" };
  const { id } = chatwoot.startConversation(bia);
  chatwoot.write(id, { attachments: [{ bytes: SAMPLE.opus, type: "audio/ogg", file_name: "note.ogg" }] });
  await story.waitForSent(1);
  chatwoot.record(id, SAMPLE.mp3);
  const sent = await story.waitForSent(2);
  expect(sent.map(({ content }) => content)).toMatchObject([
    { media_type: "ptt" },
    { media_type: "audio", mime_type: "audio/mpeg" },
  ]);
  expect((await story.read()).last_error).toMatch(
    /as an audio file, not as a voice note: ffmpeg.*WAYGATE_FFMPEG/,
  );
});
