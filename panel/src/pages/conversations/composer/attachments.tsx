import { useTranslations } from "use-intl";
import { KINDS } from "../kinds/kinds.tsx";
import { FileButton } from "../kinds/media-parts.tsx";
import type { ComposeProps } from "../kinds/message-kind.ts";

/** Everything besides text that can be sent. */
export function Attachments({ onFiles, onSend }: ComposeProps & { onFiles(files: readonly File[]): void }) {
  const t = useTranslations("conversations.compose");
  return (
    <fieldset className="buttons attachments" aria-label={t("attach")}>
      <FileButton label={t("file")} isMultiple onChoose={onFiles} />
      {KINDS.map(({ types: [name], Compose }) => Compose && <Compose key={name} onSend={onSend} />)}
    </fieldset>
  );
}
