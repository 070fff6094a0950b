import { type ChangeEvent, useRef } from "react";
import { useFormatter, useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { toRequestError } from "../../../gateway/to-request-error.ts";
import type { Message } from "../conversation-queries.ts";
import { stripFormatting } from "../formatting/strip-formatting.ts";
import { readFile } from "../media-files.ts";
import { MessageText } from "../message-text.tsx";
import type { ShownMedia } from "../use-media.ts";
import type { Outgoing } from "./message-kind.ts";

const KILO = 1_000;

export function useSize(): (bytes: number) => string {
  const format = useFormatter();
  return (bytes) => {
    const [unit, value] =
      bytes < KILO * KILO ? ["kilobyte", bytes / KILO] : ["megabyte", bytes / KILO / KILO];
    return format.number(value as number, { style: "unit", unit: unit as string, maximumFractionDigits: 1 });
  };
}

export function Caption({ message }: { message: Message }) {
  return message.caption ? <MessageText text={message.caption} /> : null;
}

/** Why no file is shown, or the button that loads it. */
export function MediaState({ message, shown }: { message: Message; shown: ShownMedia }) {
  const t = useTranslations("conversations.media");
  const size = useSize();
  const { media } = message;
  if (media === null) return <p className="bubble-note">{t("none")}</p>;
  if (media.status === "pending") return <p className="bubble-note">{t("pending")}</p>;
  if (media.status === "expired") return <p className="bubble-note">{t("expired")}</p>;
  if (shown.url !== undefined) return null;
  return (
    <div className="media-wait">
      {media.status === "failed" && (
        <p className="bubble-note">{t("failed", { reason: media.reason ?? "" })}</p>
      )}
      {shown.error !== undefined && (
        <p className="field-error">{toRequestError(shown.error).message ?? t("unreachable")}</p>
      )}
      <ActionButton isPending={shown.isLoading} onPress={shown.load}>
        {shown.isLoading ? t("loading") : t("load", { size: size(media.size) })}
      </ActionButton>
    </div>
  );
}

export function summariseMedia(word: string, { caption, media }: Message): string {
  const description = caption === null ? media?.file_name : stripFormatting(caption);
  return [word, description].filter(Boolean).join(": ");
}

type MediaType = "image" | "video" | "audio" | "document" | "sticker" | "ptt";

export function postFile(
  file: File,
  more: { type?: MediaType; caption?: string; ptt?: boolean },
): Outgoing["post"] {
  return async (target, call) => {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const upload = { bytes, file_name: file.name, ...(file.type && { mime_type: file.type }) };
    return gateway.sendMedia({ ...target, ...more, file: upload }, call);
  };
}

/** Sends the stored file again. */
export async function resendMedia(message: Message, instanceId: number): Promise<Outgoing["post"]> {
  const { media, caption, type } = message;
  const bytes = await readFile(instanceId, message);
  const file = new File([bytes], media?.file_name ?? "file", { type: media?.mime_type ?? "" });
  return postFile(file, { type: type as MediaType, ...(caption && { caption }) });
}

export function FileButton({
  label,
  accept,
  isMultiple = false,
  onChoose,
}: {
  label: string;
  accept?: string;
  isMultiple?: boolean;
  onChoose(files: readonly File[]): void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const files = [...(target.files ?? [])];
    target.value = "";
    if (files.length > 0) onChoose(files);
  };
  return (
    <>
      <input
        ref={field}
        type="file"
        hidden
        multiple={isMultiple}
        accept={accept}
        onChange={choose}
        aria-label={label}
      />
      <ActionButton onPress={() => field.current?.click()}>{label}</ActionButton>
    </>
  );
}
