import "../instances.css";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import {
  Dialog,
  DialogTrigger,
  Heading,
  Input,
  Label,
  Modal,
  ModalOverlay,
  TextField,
} from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { ErrorNotice, Notice } from "../../../components/error-notice.tsx";
import { CheckField } from "../../../components/fields/check-field.tsx";
import { LoadingState } from "../../../components/page-header.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { gateway, type Instance } from "../../../gateway/gateway.ts";
import { instanceQuery } from "../../../gateway/queries.ts";
import { useAccess } from "../../../gateway/use-access.ts";
import { apiKeyQuery } from "../instances-queries.ts";
import { ApiKeySection } from "./api-key-section.tsx";
import { ProxySection } from "./proxy-section.tsx";
import { SettingsForm } from "./settings-form.tsx";

export function InstanceSettingsPage() {
  const t = useTranslations("instanceSettings");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const { data, error, refetch } = useQuery(instanceQuery(id));
  const mayManage = useAccess().may("admin");
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  if (!mayManage)
    return (
      <Notice tone="info">
        <p>{t("adminOnly")}</p>
      </Notice>
    );
  return (
    <>
      <SettingsForm key={id} row={data} />
      {data.network === "whatsapp" && <ProxySection id={id} />}
      <ApiKeySection row={data} />
      <DeleteSection row={data} />
    </>
  );
}

function DeleteSection({ row: { id, name } }: { row: Instance }) {
  const t = useTranslations("instanceSettings");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: (end_descendants: boolean) => gateway.deleteInstance({ id, end_descendants }),
    onSuccess: async () => {
      showToast(t("deleted", { name }));
      await navigate({ to: "/instances", ignoreBlocker: true });
      queries.removeQueries({ queryKey: ["instances", id] });
      await queries.invalidateQueries({ queryKey: ["instances", "list"] });
    },
  });
  return (
    <section className="card form-section" data-danger="" aria-label={t("deleteTitle")}>
      <div>
        <h2>{t("deleteTitle")}</h2>
        <p>{t("deleteHelp")}</p>
      </div>
      <ErrorNotice error={remove.error} />
      <div className="buttons">
        <DialogTrigger>
          <ActionButton kind="danger" isPending={remove.isPending}>
            {t("delete")}
          </ActionButton>
          <ModalOverlay isDismissable className="backdrop">
            <Modal className="dialog">
              <Dialog role="alertdialog">
                {({ close }) => (
                  <NameCheck
                    id={id}
                    name={name}
                    onCancel={close}
                    onConfirm={(endsDescendants) => [close(), remove.mutate(endsDescendants)]}
                  />
                )}
              </Dialog>
            </Modal>
          </ModalOverlay>
        </DialogTrigger>
      </div>
    </section>
  );
}

interface NameCheckProps {
  id: number;
  name: string;
  onCancel(): void;
  onConfirm(endsDescendants: boolean): void;
}

function NameCheck({ id, name, onCancel, onConfirm }: NameCheckProps) {
  const t = useTranslations("instanceSettings");
  const common = useTranslations("common");
  const [typed, setTyped] = useState("");
  const [endsDescendants, setEndsDescendants] = useState(false);
  const count = useQuery(apiKeyQuery(id)).data?.descendants ?? 0;
  return (
    <>
      <Heading slot="title">{t("deleteConfirm", { name })}</Heading>
      <p>{t("deleteHelp")}</p>
      <TextField className="field" value={typed} onChange={setTyped} autoComplete="off">
        <Label>{t("deleteType", { name })}</Label>
        <Input autoCapitalize="none" spellCheck={false} />
      </TextField>
      {count > 0 && (
        <CheckField
          label={t("deleteDescendants", { count })}
          isSelected={endsDescendants}
          onChange={setEndsDescendants}
        />
      )}
      <div className="buttons">
        <ActionButton
          kind="danger"
          isDisabled={typed.trim() !== name.trim()}
          onPress={() => onConfirm(endsDescendants)}
        >
          {t("deleteForGood")}
        </ActionButton>
        <ActionButton onPress={onCancel}>{common("cancel")}</ActionButton>
      </div>
    </>
  );
}
