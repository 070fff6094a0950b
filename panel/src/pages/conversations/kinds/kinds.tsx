import { useFormatter, useTranslations } from "use-intl";
import { FormDialog } from "../../../components/dialogs/form-dialog.tsx";
import { FormField, PhoneField } from "../../../components/fields/form-field.tsx";
import { formatPhone } from "../../../components/formats.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import type { Message } from "../conversation-queries.ts";
import { stripFormatting } from "../formatting/strip-formatting.ts";
import { MessageText } from "../message-text.tsx";
import { useMedia } from "../use-media.ts";
import { locationKind } from "./location-kind.tsx";
import {
  Caption,
  FileButton,
  MediaState,
  postFile,
  resendMedia,
  summariseMedia,
  useSize,
} from "./media-parts.tsx";
import type { BodyProps, ComposeProps, MessageKind, Outgoing, Texts } from "./message-kind.ts";
import { textKind } from "./text-kind.tsx";
import { VoiceRecorder } from "./voice-recorder.tsx";

interface Card {
  name: string;
  phone: string;
}

const cardsOf = ({ contacts }: Message) => (Array.isArray(contacts) ? (contacts as Card[]) : []);

const contactKind: MessageKind = {
  types: ["contact"],
  Body: ContactBody,
  summarise: (message, t) => [t("kinds.contact"), cardsOf(message)[0]?.name].filter(Boolean).join(": "),
  resend: (message) => {
    const { name = "", phone = "" } = cardsOf(message)[0] ?? {};
    return postCard({ name, phone: phone.replace(/^\d/, "+$&") });
  },
  Compose: ContactForm,
};

function postCard(contact: Card): Outgoing["post"] {
  const { name, phone } = contact;
  return (target, call) => gateway.sendContact({ ...target, contact: { name, phone } }, call);
}

function ContactBody({ message }: BodyProps) {
  return cardsOf(message).map(({ name, phone }) => (
    <div key={`${name} ${phone}`}>
      <strong>{name}</strong>
      <p>{formatPhone(phone)}</p>
    </div>
  ));
}

function ContactForm({ onSend }: ComposeProps) {
  const t = useTranslations("conversations.compose");
  const submit = async ({ name = "", phone = "" }: Partial<Record<string, string>>) =>
    onSend({ shown: name, post: postCard({ name, phone }) });
  return (
    <FormDialog
      label={t("contact")}
      title={t("contactTitle")}
      submitLabel={t("send")}
      onSubmit={submit}
      mutation={{ isPending: false, error: null, reset: () => {} }}
    >
      <FormField name="name" label={t("contactName")} maxLength={200} />
      <PhoneField name="phone" label={t("contactPhone")} hint={t("phoneHint")} />
    </FormDialog>
  );
}

const audioKind: MessageKind = {
  types: ["audio", "ptt"],
  Body: AudioBody,
  summarise: ({ type }, t) => t(type === "ptt" ? "kinds.voice" : "kinds.audio"),
  resend: resendMedia,
  Compose: VoiceButtons,
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

function VoiceButtons({ onSend }: ComposeProps) {
  const t = useTranslations("conversations");
  const send = (file: File) => onSend({ shown: file.name, post: postFile(file, { type: "ptt", ptt: true }) });
  return (
    <>
      <VoiceRecorder onRecord={send} />
      <FileButton label={t("compose.voice")} accept="audio/*" onChoose={([file]) => file && send(file)} />
    </>
  );
}

const documentKind: MessageKind = {
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

const videoKind: MessageKind = {
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

const imageKind: MessageKind = {
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

/** All kinds of messages, in the order of the attachment menu. */
export const KINDS: readonly MessageKind[] = [
  textKind,
  imageKind,
  audioKind,
  locationKind,
  contactKind,
  documentKind,
  videoKind,
];

const byType = new Map(KINDS.flatMap((kind) => kind.types.map((type) => [type, kind] as const)));

export function kindOf({ type }: Pick<Message, "type">): MessageKind {
  return byType.get(type) ?? unknownKind;
}

export function summarise(message: Message, t: Texts): string {
  return message.deleted_at === null ? kindOf(message).summarise(message, t) : t("thread.deleted");
}

/** Unreadable messages and unsupported types. */
const unknownKind: MessageKind = {
  types: ["unsupported"],
  Body: UnknownBody,
  summarise: (message, t) =>
    (message.text && stripFormatting(message.text)) || t(`kinds.${noteOf(message)}`, kindIn(message)),
};

function UnknownBody({ message }: BodyProps) {
  const t = useTranslations("conversations.kinds");
  return (
    <>
      <p className="bubble-note">{t(noteOf(message), kindIn(message))}</p>
      {message.text && <MessageText text={message.text} />}
    </>
  );
}

function noteOf({ unsupported }: Message) {
  return unsupported && unsupported.reason !== "unknown_kind" ? unsupported.reason : "unknown";
}

const kindIn = ({ type, unsupported }: Message) => ({ type: unsupported?.kind ?? type });
