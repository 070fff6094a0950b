import { useMatches } from "@tanstack/react-router";
import { type ReactNode, type Ref, useEffect, useMemo, useRef } from "react";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { isPasswordRequired } from "../gateway/reauthentication.ts";
import { type RequestError, toRequestError } from "../gateway/to-request-error.ts";
import { ActionButton, LinkButton } from "./action-button.tsx";
import { PageHeader } from "./page-header.tsx";
import type { Tone } from "./status-dot.tsx";
import { refusalsOf, useGatewayTexts } from "./use-gateway-texts.ts";

interface ErrorNoticeProps {
  error: unknown;
  /** For a failed read. Without it the notice belongs to an action and scrolls into view. */
  onRetry?: () => void;
}

/** Why a request failed, with its request id. */
export function ErrorNotice({ error, onRetry }: ErrorNoticeProps) {
  const t = useTranslations();
  const place = useInView(onRetry === undefined ? error : undefined);
  if (error === null || error === undefined) return null;
  const { requestId } = toRequestError(error);
  if (isPasswordRequired(error))
    return (
      <Notice ref={place} tone="info" isUrgent>
        <p>{t("shell.passwordMissing")}</p>
      </Notice>
    );
  return (
    <Notice ref={place} tone="danger" isUrgent>
      <ErrorText error={error} />
      {requestId && <p className="code">{t("common.requestId", { id: requestId })}</p>}
      <LinkRemedy error={error} />
      {onRetry && (
        <div className="buttons">
          <ActionButton onPress={onRetry}>{t("common.retry")}</ActionButton>
        </div>
      )}
    </Notice>
  );
}

/** The submit button of a long form may be far from the notice. */
function useInView(error: unknown) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error) place.current?.scrollIntoView({ block: "nearest" });
  }, [error]);
  return place;
}

/** The error in the language of the panel, with the gateway's message below where it says more. */
function ErrorText({ error }: { error: unknown }) {
  const textOf = useErrorText();
  const texts = useGatewayTexts();
  if (!(error instanceof WaygateError) || toRequestError(error).text !== undefined)
    return <p>{textOf(error)}</p>;
  const { sentence, detail } = texts.failure(error);
  return (
    <>
      <p>{sentence}</p>
      {detail && (
        <p className="hint" lang="en">
          {detail}
        </p>
      )}
    </>
  );
}

interface NoticeProps {
  tone: Tone;
  title?: string;
  /** Heading level of the title: 2 directly below the page header, otherwise 3. */
  level?: 2 | 3;
  /** Announced at once by a screen reader (`alert`), otherwise in a pause (`status`). */
  isUrgent?: boolean;
  ref?: Ref<HTMLDivElement>;
  children: ReactNode;
}

export function Notice({ tone, title, level = 3, isUrgent, ref, children }: NoticeProps) {
  const Title = `h${level}` as const;
  return (
    <div ref={ref} className="notice" data-tone={tone} role={isUrgent ? "alert" : "status"}>
      {title && <Title>{title}</Title>}
      {children}
    </div>
  );
}

interface ErrorPageProps {
  /** The kind of page, because the name of its content is unknown. */
  title: string;
  breadcrumbs?: ReactNode;
  error: unknown;
  onRetry: () => void;
}

/** A page whose content could not be loaded. */
export function ErrorPage({ title, breadcrumbs, error, onRetry }: ErrorPageProps) {
  return (
    <>
      <PageHeader title={title} breadcrumbs={breadcrumbs} />
      <ErrorNotice error={error} onRetry={onRetry} />
    </>
  );
}

interface DeletedPageProps {
  title: string;
  breadcrumbs: ReactNode;
  /** Says that it was deleted. */
  text: string;
}

/** A page whose content was deleted elsewhere while the page was open. */
export function DeletedPage({ title, breadcrumbs, text }: DeletedPageProps) {
  const t = useTranslations("common");
  return (
    <>
      <PageHeader title={title} breadcrumbs={breadcrumbs} />
      <Notice tone="warning" title={text} level={2} isUrgent>
        <p>{t("deletedHelp")}</p>
      </Notice>
    </>
  );
}

/**
 * Returns the same object for the same error, because a form shows field errors again when they change. Field names
 * lose `prefix`.
 */
export function useRequestError(
  error: unknown,
  prefix = "",
): RequestError & { fields: Record<string, string> } {
  const texts = useGatewayTexts();
  return useMemo(() => {
    const refused = toRequestError(error);
    const fields = refusalsOf(refused.details).map((one) => [
      one.field.replace(prefix, ""),
      texts.issue(one),
    ]);
    return { ...refused, fields: Object.fromEntries(fields) };
  }, [error, prefix, texts]);
}

/** The reason of a failure as one text, from the gateway or the panel. */
export function useErrorText(): (error: unknown) => string {
  const t = useTranslations("connection");
  return (error) => {
    const { message, text = "unreachable" } = toRequestError(error);
    return message ?? t(text);
  };
}

/** The ref of a form, whose first invalid field gets the focus after a refusal. */
export function useFocusOnError(error: unknown) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return form;
}

/** Links to the page that connects a phone, if the request failed because the instance has none. */
export function LinkRemedy({ error }: { error: unknown }) {
  const t = useTranslations("connection");
  const id = useMatches({ select: (matches) => instanceOf(matches.at(-1)) });
  if (id === undefined || toRequestError(error).text !== "notConnected") return null;
  return (
    <LinkButton to="/instances/$id/link" params={{ id }}>
      {t("toLink")}
    </LinkButton>
  );
}

interface Page {
  fullPath: string;
  params: object;
}

/** On other pages `$id` is no instance. */
function instanceOf(page: Page | undefined): number | undefined {
  const { id }: { id?: number } = page?.fullPath.startsWith("/instances/$id") ? page.params : {};
  return id;
}
