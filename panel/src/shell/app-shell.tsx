import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, Outlet, useMatches } from "@tanstack/react-router";
import { type FormEvent, useMemo, useState } from "react";
import { Dialog, Form, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { ActionButton, LinkButton } from "../components/action-button.tsx";
import { SessionDialog } from "../components/dialogs/session-dialog.tsx";
import { ErrorNotice } from "../components/error-notice.tsx";
import { FormField } from "../components/fields/form-field.tsx";
import { readForm } from "../components/fields/read-search.ts";
import { PageHeader } from "../components/page-header.tsx";
import { SignOutButton } from "../components/sign-out-button.tsx";
import { useOnline } from "../components/use-online.ts";
import { type Need, needOfPage } from "../gateway/access.ts";
import { gateway, retryNow } from "../gateway/gateway.ts";
import { useLiveEvents, useLiveState } from "../gateway/live-events.ts";
import { accountQuery } from "../gateway/queries.ts";
import {
  passwordReauthentication,
  type Reauthentication,
  useReauthentication,
} from "../gateway/reauthentication.ts";
import { useAccess } from "../gateway/use-access.ts";
import { BrandMark } from "./entry-frame.tsx";
import { OwnPasswordPage } from "./own-password.tsx";
import { ShortcutSheet } from "./shortcuts.tsx";

/** The frame of every page after the sign-in. */
export function AppShell() {
  const { signed } = useAccess();
  return signed?.user.must_change_password ? <OwnPasswordPage /> : <PageFrame />;
}

/** Tabs at the bottom on a phone, a rail at the side on a desktop. */
function PageFrame() {
  const t = useTranslations();
  useLiveEvents();
  return (
    <div className="frame">
      <a className="skip" href="#content">
        {t("common.skip")}
      </a>
      <header className="app-header">
        <Link to="/" className="brand">
          <BrandMark /> Waygate
        </Link>
        <SignOutButton />
      </header>
      <MainNavigation />
      <div className="main-column">
        <ConnectionBar />
        <main id="content" className="content" tabIndex={-1}>
          <AllowedPage />
        </main>
      </div>
      <PasswordDialog />
      <SessionDialog />
      <ShortcutSheet />
    </div>
  );
}

/** The page of the address, or why this user may not open it. */
function AllowedPage() {
  const { signed, may } = useAccess();
  const need = useMatches({ select: (matches) => needOfPage(matches.at(-1)?.fullPath ?? "") });
  if (signed !== undefined && need !== undefined && !may(need)) return <NotAllowedPage need={need} />;
  return <Outlet />;
}

/** On a phone, tabs after the first four are in a menu. */
function MainNavigation() {
  const t = useTranslations();
  const { may } = useAccess();
  const features = useQuery(accountQuery).data?.plan.features;
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <nav className="tabs" aria-label={t("shell.navigation")}>
      <Link to="/" activeOptions={{ exact: true }} onClick={close}>
        <Icon path="M4 11l8-7 8 7v9H4zM10 20v-5h4v5" /> {t("home.title")}
      </Link>
      <Link to="/instances" onClick={close}>
        <Icon path="M4 7h16v10H4zM8 20h8M7 10h4M7 13.5h7" /> {t("shell.instances")}
      </Link>
      {features?.campaigns !== false && (
        <Link to="/campaigns" onClick={close}>
          <Icon path="M4 10v4h4l8 5V5l-8 5zM19 10v4" /> {t("campaigns.title")}
        </Link>
      )}
      {features?.crm !== false && (
        <Link to="/crm" onClick={close}>
          <Icon path="M12 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM5 20a7 7 0 0 1 14 0" /> {t("crm.title")}
        </Link>
      )}
      <button
        type="button"
        className="more-tabs"
        aria-expanded={isOpen}
        aria-controls="further-pages"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon path="M5 12h.01M12 12h.01M19 12h.01" /> {t("shell.more")}
      </button>
      <div id="further-pages" className="further-tabs" data-open={isOpen ? "" : undefined}>
        <Link to="/account" onClick={close}>
          <Icon path="M4 6h16v12H4zM8 13h3M8 16h6M14 10h2" /> {t("account.title")}
        </Link>
        {may("manager") && (
          <Link to="/administration" onClick={close}>
            <Icon path="M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6z" /> {t("administration.title")}
          </Link>
        )}
        <Link to="/settings" onClick={close}>
          <Icon path="M4 8h10m4 0h2M4 16h2m4 0h10M16 5.5v5M8 13.5v5" /> {t("shell.settings")}
        </Link>
        <a href="/docs/waygate">
          <Icon path="M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM9 8h6M9 12h6" /> {t("common.guide")}
        </a>
      </div>
    </nav>
  );
}

function Icon({ path }: { path: string }) {
  return (
    <svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">
      <path
        d={path}
        fill="none"
        stroke="currentColor"
        strokeWidth="2.2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

/** Shown while live updates are interrupted. */
function ConnectionBar() {
  const t = useTranslations("connection");
  const live = useLiveState();
  const isOnline = useOnline();
  if (isOnline && live !== "reconnecting") return null;
  return (
    <div className="offline" role="status">
      <p>{isOnline ? t("reconnecting") : t("offline")}</p>
      {isOnline && <ActionButton onPress={retryNow}>{t("retryNow")}</ActionButton>}
    </div>
  );
}

function NotAllowedPage({ need }: { need: Need }) {
  const t = useTranslations();
  const { signed } = useAccess();
  const role = signed ? t(`settings.roles.${signed.user.role}`) : "";
  const isRole = need === "admin" || need === "account" || signed?.user.role === "agent";
  return (
    <>
      <PageHeader
        title={t("shell.notAllowed")}
        lead={isRole ? t("shell.notAllowedRole", { role }) : t(`shell.notAllowedAccount.${need}`)}
      />
      <div className="buttons">
        <LinkButton to="/">{t("shell.toStart")}</LinkButton>
      </div>
    </>
  );
}

/** Confirms the password when a request requires it. */
function PasswordDialog() {
  const reauthentication = useReauthentication(passwordReauthentication);
  const isOpen = reauthentication !== undefined;
  return (
    <ModalOverlay
      isOpen={isOpen}
      isDismissable
      onOpenChange={(next) => !next && reauthentication?.finish(false)}
      className="backdrop"
    >
      <Modal className="dialog">
        {reauthentication && <PasswordForm reauthentication={reauthentication} />}
      </Modal>
    </ModalOverlay>
  );
}

const NO_ERRORS: Record<string, string> = {};

function PasswordForm({ reauthentication }: { reauthentication: Reauthentication }) {
  const t = useTranslations();
  const confirm = useMutation({
    mutationFn: (password: string) => gateway.confirmPassword({ password }),
    onSuccess: () => reauthentication.finish(true),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    confirm.mutate(readForm(event.currentTarget).password ?? "");
  };
  const isWrong = confirm.error instanceof WaygateError && confirm.error.code === "INVALID_CREDENTIALS";
  const wrong = t("shell.passwordWrong");
  const errors = useMemo(() => (isWrong ? { password: wrong } : NO_ERRORS), [isWrong, wrong]);
  return (
    <Dialog>
      <Form className="stack" onSubmit={submit} validationErrors={errors}>
        <Heading slot="title">{t("shell.passwordTitle")}</Heading>
        <p>{t("shell.passwordHelp")}</p>
        {!isWrong && <ErrorNotice error={confirm.error} />}
        <FormField
          name="password"
          type="password"
          label={t("signIn.password")}
          autoComplete="current-password"
        />
        <div className="buttons">
          <ActionButton kind="primary" type="submit" isPending={confirm.isPending}>
            {t("shell.passwordConfirm")}
          </ActionButton>
          <ActionButton onPress={() => reauthentication.finish(false)}>{t("common.cancel")}</ActionButton>
        </div>
      </Form>
    </Dialog>
  );
}
