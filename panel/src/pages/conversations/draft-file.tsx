import { useEffect, useState } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { useSize } from "./kinds/media-parts.tsx";

/** The file that goes with the next message. */
export function DraftFile({ file, onRemove }: { file: File; onRemove(): void }) {
  const t = useTranslations("conversations.compose");
  const size = useSize();
  const url = usePicture(file);
  return (
    <div className="draft-file">
      {url !== undefined && <img src={url} alt="" />}
      <p>
        {file.name} <span className="hint">{size(file.size)}</span>
      </p>
      <ActionButton kind="bare" onPress={onRemove} aria-label={t("removeFile", { name: file.name })}>
        {t("remove")}
      </ActionButton>
    </div>
  );
}

function usePicture(file: File): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!/^image\/(png|jpeg|webp|gif)$/.test(file.type)) return setUrl(undefined);
    const address = URL.createObjectURL(file);
    setUrl(address);
    return () => URL.revokeObjectURL(address);
  }, [file]);
  return url;
}
