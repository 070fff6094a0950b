import { useTranslations } from "use-intl";
import { gateway } from "../../../api/gateway.ts";
import { FormDialog } from "../../../components/form-dialog.tsx";
import { FormField } from "../../../components/form-field.tsx";
import { formatPhone } from "../../../components/format-phone.ts";
import { PhoneField } from "../../../components/phone-field.tsx";
import type { Message } from "../conversation-queries.ts";
import type { BodyProps, ComposeProps, MessageKind, Outgoing } from "./message-kind.ts";

interface Card {
  name: string;
  phone: string;
}

const cardsOf = ({ contacts }: Message) => (Array.isArray(contacts) ? (contacts as Card[]) : []);

export const contactKind: MessageKind = {
  types: ["contact"],
  Body: ContactBody,
  summarise: (message, t) => [t("kinds.contact"), cardsOf(message)[0]?.name].filter(Boolean).join(": "),
  resend: (message) => postCard(cardsOf(message)[0] ?? { name: "", phone: "" }),
  Compose: ContactForm,
};

function postCard(contact: Card): Outgoing["post"] {
  const { name, phone } = contact;
  return (target, call) => gateway.sendContact({ ...target, contact: { name, phone } }, call);
}

function ContactBody({ message }: BodyProps) {
  return cardsOf(message).map(({ name, phone }) => (
    <div className="card" key={`${name} ${phone}`}>
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
      <PhoneField name="phone" label={t("contactPhone")} hint={t("phoneHint")} maxLength={40} />
    </FormDialog>
  );
}
