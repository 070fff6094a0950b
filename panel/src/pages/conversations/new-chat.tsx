import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { FormDialog } from "../../components/form-dialog.tsx";
import { Notice } from "../../components/notice.tsx";
import { PhoneField } from "../../components/phone-field.tsx";

/** Opens a chat by a number, after a check that the network knows it. */
export function NewChat({ id }: { id: number }) {
  const t = useTranslations("conversations.newChat");
  const navigate = useNavigate();
  const check = useMutation({
    mutationFn: async (number: string) => (await gateway.checkContacts({ id, number })).data[0] ?? null,
  });
  const isUnknown = check.isSuccess && !check.data?.exists;
  const open = async ({ number = "" }: Partial<Record<string, string>>) => {
    const found = await check.mutateAsync(number);
    if (!found?.exists || found.jid === null) throw new Error("The number is not on the network.");
    await navigate({ to: "/instances/$id/chats/$jid", params: { id, jid: found.jid }, search: {} });
  };
  return (
    <FormDialog
      label={t("open")}
      title={t("title")}
      submitLabel={t("submit")}
      onSubmit={open}
      mutation={check}
    >
      {isUnknown && (
        <Notice tone="note" isUrgent>
          <p>{t("unknown")}</p>
        </Notice>
      )}
      <PhoneField name="number" label={t("number")} hint={t("hint")} maxLength={40} autoComplete="off" />
    </FormDialog>
  );
}
