import type { LoggedContent } from "../log/message-view.ts";

interface FileConversion {
  converted?: { from: string; to: string };
  hint?: string;
}

/** Says that a file goes out in another form than it was given in. */
export function conversionOf(content: LoggedContent): FileConversion {
  const { converted } = content.kind === "media" ? content : {};
  if (!converted) return {};
  const { from, to, reason } = converted;
  return {
    converted: { from, to },
    hint: [hintOf(from, to), reason && WITHOUT_FFMPEG].filter(Boolean).join(" "),
  };
}

const WITHOUT_FFMPEG =
  "ffmpeg, with which the gateway converts such files, is not installed (WAYGATE_FFMPEG).";

/** What phones show or play, by the first word of a type. */
const SHOWN = {
  image: ["show", "Send a JPEG or PNG file to show a picture."],
  video: ["play", "Send an MP4 file to show a video."],
  audio: ["play", "Send an MP3, M4A or Ogg Opus file to play it in the chat."],
} as const;

function hintOf(from: string, to: string): string {
  const [family = ""] = from.split("/");
  const [verb, advice] = SHOWN[family as keyof typeof SHOWN] ?? SHOWN.image;
  if (to === "document")
    return `Phones do not ${verb} ${from} in the chat, and the gateway cannot convert this file, so it is sent as a document. ${advice}`;
  if (to === "image/webp")
    return `Phones show a sticker that is ${to}, of 512 x 512 pixels and at most 100 KB, or 500 KB if it is animated, so the picture was converted.`;
  if (from === "image/gif")
    return `Phones show a GIF file as a still picture at most, so it is sent as ${to}.`;
  return `Phones do not ${verb} ${from}, so the file is sent as ${to}.`;
}
