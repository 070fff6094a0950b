import { useMatches } from "@tanstack/react-router";
import { type ReactNode, type Ref, useEffect, useMemo, useRef } from "react";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { isPasswordRequired } from "../gateway/reauthentication.ts";
import { type Fault, toRequestError } from "../gateway/to-request-error.ts";
import { ActionButton, LinkButton } from "./action-button.tsx";
import { PageHeader } from "./page-header.tsx";
import type { Tone } from "./status-dot.tsx";
import { refusalsOf, useGatewayTexts } from "./use-gateway-texts.ts";

interface ErrorNoticeProps {
  error: unknown;
  /** For what could not be read. Without it the notice belongs to an act, and moves into view. */
  onRetry?: () => void;
}

/** A failed request in words, with its number for the log. */
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

/** The button of a long form may be far from the notice. */
function useInView(error: unknown) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error) place.current?.scrollIntoView({ block: "nearest" });
  }, [error]);
  return place;
}

/** What went wrong, in the language of the panel; the gateway's own words below where they say more. */
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
  /** Of the title: 2 right below the head of a page, otherwise 3. */
  level?: 2 | 3;
  /** Interrupts a screen reader; otherwise it waits for a pause. */
  isUrgent?: boolean;
  ref?: Ref<HTMLDivElement>;
  children: ReactNode;
}

/** Something the reader should know here and now. */
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
  /** The kind of page: the name of what it would show is not known. */
  title: string;
  breadcrumbs?: ReactNode;
  error: unknown;
  onRetry: () => void;
}

/** A page whose content could not be read. */
export function ErrorPage({ title, breadcrumbs, error, onRetry }: ErrorPageProps) {
  return (
    <>
      <PageHeader title={title} breadcrumbs={breadcrumbs} />
      <ErrorNotice error={error} onRetry={onRetry} />
    </>
  );
}

interface DeletedPageProps {
  /** The name of what was deleted. */
  title: string;
  breadcrumbs: ReactNode;
  /** That it was deleted. */
  text: string;
}

/** A page whose content was deleted elsewhere while it was open. */
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
 * The same object while the error is the same: a form would take another one for a new refusal of what the reader has
 * corrected. Issues are in the language of the panel. `prefix` is left out of the names of fields.
 */
export function useRequestError(error: unknown, prefix = ""): Fault & { fields: Record<string, string> } {
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

/** Says why a request failed: in the words of the gateway, or in those of the panel. */
export function useErrorText(): (error: unknown) => string {
  const t = useTranslations("connection");
  return (error) => {
    const { message, text = "unreachable" } = toRequestError(error);
    return message ?? t(text);
  };
}

/** For a form: moves to its first field with a fault after the gateway has refused it. */
export function useFocusOnError(error: unknown) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return form;
}

/** Leads to the page that links a phone, if the request failed because the instance of the page has none. */
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

/** Elsewhere `$id` is not that of an instance. */
function instanceOf(page: Page | undefined): number | undefined {
  const { id }: { id?: number } = page?.fullPath.startsWith("/instances/$id") ? page.params : {};
  return id;
}
