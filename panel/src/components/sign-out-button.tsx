import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { signOut } from "../gateway/gateway.ts";
import { ActionButton } from "./action-button.tsx";
import { hasUnsaved, LeaveDialog } from "./dialogs/unsaved-guard.tsx";
import { useErrorText } from "./error-notice.tsx";
import { showToast } from "./toasts.tsx";

/** Signs out, after a confirmation if the page has unsaved changes. */
export function SignOutButton() {
  const t = useTranslations("settings");
  const textOf = useErrorText();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: async () => {
      await navigate({ to: "/sign-in", ignoreBlocker: true });
      queries.clear();
    },
    onError: (error) => showToast(textOf(error), "danger"),
    onSettled: () => setAsking(false),
  });
  const press = () => (hasUnsaved() ? setAsking(true) : leave.mutate());
  return (
    <>
      <ActionButton kind="link" isPending={leave.isPending} onPress={press}>
        {t("signOut")}
      </ActionButton>
      {isAsking && <LeaveDialog onStay={() => setAsking(false)} onLeave={() => leave.mutate()} />}
    </>
  );
}
