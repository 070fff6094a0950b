import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { showToast } from "../../components/toasts.tsx";
import { ValueField } from "../../components/value-field.tsx";
import type { LeadDetails } from "./crm-queries.ts";

/** The tags of a contact; a removed one can be put back. */
export function LeadTags({ lead }: { lead: LeadDetails }) {
  const t = useTranslations("crm");
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const save = useMutation({
    mutationFn: (tags: string[]) => gateway.updateLead({ id: lead.id, tags }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["crm"] }),
  });
  const add = (event: FormEvent) => {
    event.preventDefault();
    const tag = text.trim();
    if (tag === "") return;
    save.mutate([...new Set([...lead.tags, tag])], { onSuccess: () => setText("") });
  };
  const remove = (tag: string) => {
    const before = lead.tags;
    save.mutate(
      before.filter((one) => one !== tag),
      { onSuccess: () => showToast(t("tagRemoved", { tag }), "go", () => save.mutate([...before])) },
    );
  };
  return (
    <section className="plate" aria-label={t("tags")}>
      <h2>{t("tags")}</h2>
      <FaultNotice error={save.error} />
      {lead.tags.length > 0 && (
        <ul className="tag-list" aria-label={t("tags")}>
          {lead.tags.map((tag) => (
            <li key={tag} className="tag-removable">
              {tag}
              <ActionButton kind="bare" aria-label={t("removeTag", { tag })} onPress={() => remove(tag)}>
                ×
              </ActionButton>
            </li>
          ))}
        </ul>
      )}
      <Form className="inline-form" onSubmit={add}>
        <ValueField label={t("newTag")} value={text} onChange={setText} maxLength={64} />
        <ActionButton type="submit" isPending={save.isPending}>
          {t("addTag")}
        </ActionButton>
      </Form>
    </section>
  );
}
