import { useTranslations } from "use-intl";
import { useMedia } from "../use-media.ts";
import { Caption, MediaState, resendMedia, summariseMedia, useSize } from "./media-parts.tsx";
import type { BodyProps, MessageKind } from "./message-kind.ts";

export const documentKind: MessageKind = {
  types: ["document"],
  Body: DocumentBody,
  summarise: (message, t) => summariseMedia(t("kinds.document"), message),
  resend: resendMedia,
};

function DocumentBody({ instanceId, message }: BodyProps) {
  const t = useTranslations("conversations");
  const size = useSize();
  const shown = useMedia(instanceId, message, false);
  const name = message.media?.file_name ?? t("kinds.document");
  return (
    <>
      <p className="document-name">
        {name} <span className="hint">{size(message.media?.size ?? 0)}</span>
      </p>
      {shown.url !== undefined && (
        <a className="button" href={shown.url} download={name}>
          {t("media.save")}
        </a>
      )}
      <MediaState message={message} shown={shown} />
      <Caption message={message} />
    </>
  );
}
