import "../instances.css";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { FormDialog } from "../../../components/dialogs/form-dialog.tsx";
import { ErrorNotice } from "../../../components/error-notice.tsx";
import { FormField } from "../../../components/fields/form-field.tsx";
import { formatPhone } from "../../../components/formats.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { gateway, type InstanceState } from "../../../gateway/gateway.ts";
import { useAccess } from "../../../gateway/use-access.ts";
import { profileQuery } from "../instances-queries.ts";

export function ProfileSection({ id, state }: { id: number; state: InstanceState }) {
  const t = useTranslations("profile");
  const { data, error, refetch } = useQuery(profileQuery(id));
  const mayManage = useAccess().may("admin");
  const shownName = data?.name ?? state.profile_name ?? t("noName");
  const picture = data ? data.picture_url : state.profile_picture_url;
  return (
    <section className="card" aria-label={t("title")}>
      <h2>{t("title")}</h2>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <div className="profile">
        <ProfilePicture url={picture} name={shownName} />
        <div className="stack">
          <div>
            <p>
              <strong>{shownName}</strong>
            </p>
            <p className="code">{state.phone === null ? "" : formatPhone(state.phone)}</p>
            <p className="hint">{data?.about || t("noAbout")}</p>
          </div>
          {mayManage && (
            <div className="buttons">
              <NameDialog id={id} name={data?.name ?? ""} />
              <AboutDialog id={id} about={data?.about ?? ""} />
              <PhotoButtons id={id} hasPhoto={picture !== null} />
            </div>
          )}
        </div>
      </div>
    </section>
  );
}

/** Shows the initial instead of a picture on WhatsApp's servers, which the CSP blocks. */
function ProfilePicture({ url, name }: { url: string | null; name: string }) {
  const isOwn =
    url !== null && (url.startsWith("data:") || url.startsWith("/") || url.startsWith(location.origin));
  if (isOwn) return <img className="profile-picture" src={url} alt="" width="96" height="96" />;
  return (
    <span className="profile-picture" aria-hidden="true">
      {name.slice(0, 1).toUpperCase()}
    </span>
  );
}

function useProfileChange<Input>(id: number, change: (input: Input) => Promise<unknown>) {
  const t = useTranslations("profile");
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => showToast(t("changed")),
    onSettled: () => queries.invalidateQueries({ queryKey: ["profile", id] }),
  });
}

function NameDialog({ id, name }: { id: number; name: string }) {
  const t = useTranslations("profile");
  const common = useTranslations("common");
  const save = useProfileChange(id, (next: string) => gateway.setProfileName({ id, name: next }));
  return (
    <FormDialog
      label={t("changeName")}
      title={t("changeName")}
      submitLabel={common("save")}
      mutation={save}
      onSubmit={(fields) => save.mutateAsync(fields.name ?? "")}
    >
      <FormField name="name" label={t("name")} hint={t("nameHint")} maxLength={25} defaultValue={name} />
    </FormDialog>
  );
}

function AboutDialog({ id, about }: { id: number; about: string }) {
  const t = useTranslations("profile");
  const common = useTranslations("common");
  const save = useProfileChange(id, (text: string) => gateway.setProfileStatus({ id, text }));
  return (
    <FormDialog
      label={t("changeAbout")}
      title={t("changeAbout")}
      submitLabel={common("save")}
      mutation={save}
      onSubmit={(fields) => save.mutateAsync(fields.text ?? "")}
    >
      <FormField
        name="text"
        label={t("about")}
        hint={t("aboutHint")}
        maxLength={139}
        defaultValue={about}
        isOptional
        isLong
      />
    </FormDialog>
  );
}

/** Larger than any photo of a phone. */
const MOST_BYTES = 16 * 1_048_576;

function PhotoButtons({ id, hasPhoto }: { id: number; hasPhoto: boolean }) {
  const t = useTranslations("profile");
  const input = useRef<HTMLInputElement>(null);
  const save = useProfileChange(id, async (file: File | null) => {
    if (file === null) return gateway.setProfilePhoto({ id, url: null });
    return gateway.setProfilePhoto({ id, base64: await toBase64(file) });
  });
  const choose = (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > MOST_BYTES) showToast(t("tooLarge"), "danger");
    else save.mutate(file);
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        accept="image/*"
        hidden
        aria-label={t("changePhoto")}
        onChange={(event) => {
          choose(event.target.files?.[0]);
          event.target.value = "";
        }}
      />
      <ActionButton isPending={save.isPending} onPress={() => input.current?.click()}>
        {t("changePhoto")}
      </ActionButton>
      {hasPhoto && (
        <ActionButton kind="link" isPending={save.isPending} onPress={() => save.mutate(null)}>
          {t("removePhoto")}
        </ActionButton>
      )}
      <ErrorNotice error={save.error} />
    </>
  );
}

async function toBase64(file: File): Promise<string> {
  const reader = new FileReader();
  const read = new Promise<string>((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
  });
  reader.readAsDataURL(file);
  return read;
}
