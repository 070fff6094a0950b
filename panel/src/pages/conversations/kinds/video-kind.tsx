import { useTranslations } from "use-intl";
import { useMedia } from "../use-media.ts";
import { Caption, MediaState, resendMedia, summariseMedia } from "./media-parts.tsx";
import type { BodyProps, MessageKind } from "./message-kind.ts";

export const videoKind: MessageKind = {
  types: ["video"],
  Body: VideoBody,
  summarise: (message, t) => summariseMedia(t("kinds.video"), message),
  resend: resendMedia,
};

function VideoBody({ instanceId, message }: BodyProps) {
  const t = useTranslations("conversations");
  const shown = useMedia(instanceId, message, false);
  return (
    <>
      {shown.url !== undefined && (
        // biome-ignore lint/a11y/useMediaCaption: a film of a chat has no captions
        <video
          className="media-frame"
          controls
          src={shown.url}
          aria-label={videoKind.summarise(message, t)}
        />
      )}
      <MediaState message={message} shown={shown} />
      <Caption message={message} />
    </>
  );
}
