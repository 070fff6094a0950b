import { useFormatter, useTranslations } from "use-intl";
import { useMedia } from "../use-media.ts";
import { FileButton, MediaState, postFile, resendMedia } from "./media-parts.tsx";
import type { BodyProps, ComposeProps, MessageKind } from "./message-kind.ts";

/** Sounds and voice notes. */
export const audioKind: MessageKind = {
  types: ["audio", "ptt"],
  Body: AudioBody,
  summarise: ({ type }, t) => t(type === "ptt" ? "kinds.voice" : "kinds.audio"),
  resend: resendMedia,
  Compose: VoiceButton,
};

function AudioBody({ instanceId, message }: BodyProps) {
  const t = useTranslations("conversations");
  const format = useFormatter();
  const shown = useMedia(instanceId, message, false);
  const seconds = message.media?.seconds;
  const label = audioKind.summarise(message, t);
  return (
    <>
      <p className="bubble-note">
        {label}
        {seconds != null && ` · ${format.number(seconds, { style: "unit", unit: "second" })}`}
      </p>
      {/* biome-ignore lint/a11y/useMediaCaption: a voice note of a chat has no captions */}
      {shown.url !== undefined && <audio controls src={shown.url} aria-label={label} />}
      <MediaState message={message} shown={shown} />
    </>
  );
}

function VoiceButton({ onSend }: ComposeProps) {
  const t = useTranslations("conversations");
  return (
    <FileButton
      label={t("compose.voice")}
      accept="audio/*"
      onChoose={(file) => onSend({ shown: file.name, post: postFile(file, { type: "ptt", ptt: true }) })}
    />
  );
}
