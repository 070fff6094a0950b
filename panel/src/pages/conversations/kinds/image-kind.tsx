import { useTranslations } from "use-intl";
import { useMedia } from "../use-media.ts";
import { Caption, MediaState, resendMedia, summariseMedia } from "./media-parts.tsx";
import type { BodyProps, MessageKind } from "./message-kind.ts";

/** Pictures and stickers. */
export const imageKind: MessageKind = {
  types: ["image", "sticker"],
  Body: ImageBody,
  summarise: (message, t) =>
    summariseMedia(t(message.type === "sticker" ? "kinds.sticker" : "kinds.image"), message),
  resend: resendMedia,
};

function ImageBody({ instanceId, message }: BodyProps) {
  const t = useTranslations("conversations");
  const shown = useMedia(instanceId, message, true);
  const alt = imageKind.summarise(message, t);
  return (
    <>
      {shown.url !== undefined && (
        <a href={shown.url} target="_blank" rel="noreferrer" className="media-frame">
          <img src={shown.url} alt={alt} data-sticker={message.type === "sticker" ? "" : undefined} />
        </a>
      )}
      <MediaState message={message} shown={shown} />
      <Caption message={message} />
    </>
  );
}
