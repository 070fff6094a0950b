import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { readEveryPage } from "../../components/csv/to-csv.ts";
import { TypedConfirm } from "../../components/dialogs/typed-confirm.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { saveFile } from "../../gateway/save-stream.ts";

export function ExportPerson({ id }: { id: number }) {
  const t = useTranslations("crm");
  const save = useMutation({ mutationFn: () => exportPerson(id) });
  return (
    <>
      <ActionButton isPending={save.isPending} onPress={() => save.mutate()}>
        {t("exportPerson")}
      </ActionButton>
      <ErrorNotice error={save.error} />
    </>
  );
}

/** Erases everything about the person, not only the contact. */
export function ErasePerson({ id, name }: { id: number; name: string }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const erase = useMutation({
    mutationFn: () => gateway.anonymizeData({ scope: "person", lead_id: id }),
    onSuccess: ({ data: { status } }) => {
      showToast(t(status === "completed" ? "crm.erased" : "crm.erasing"));
      return queries.invalidateQueries();
    },
  });
  return (
    <TypedConfirm
      label={t("crm.erasePerson")}
      title={t("crm.eraseTitle", { name })}
      consequence={
        <>
          <p>{t("account.anonymise.consequences.person")}</p>
          <p>{t("crm.eraseKept")}</p>
          <p>{t("account.anonymise.irreversible")}</p>
        </>
      }
      word={name}
      confirmLabel={t("crm.eraseConfirm")}
      mutation={erase}
      onConfirm={() => erase.mutateAsync()}
    />
  );
}

/** Exports everything about a person except the bytes of files. */
async function exportPerson(id: number): Promise<void> {
  const { conversations, messages: _latest, ...contact } = (await gateway.getLeadDetails({ id })).data;
  const { phone } = contact;
  const consents =
    phone === null
      ? []
      : await readAll((page) => gateway.listConsent({ userId: "me", phone: `+${phone}`, ...page }));
  const chats = [];
  for (const { instance_id, jid, title } of conversations) {
    const messages = await readAll((page) => gateway.listChatMessages({ id: instance_id, jid, ...page }));
    chats.push({ instance_id, jid, title, messages });
  }
  const person = { exported_at: new Date().toISOString(), contact, consents, conversations: chats };
  saveFile(`contact-${id}.json`, new Blob([JSON.stringify(person, null, 2)], { type: "application/json" }));
}

async function readAll<Row>(readPage: Parameters<typeof readEveryPage<Row>>[0]): Promise<Row[]> {
  return (await readEveryPage(readPage, Number.POSITIVE_INFINITY)).rows;
}
