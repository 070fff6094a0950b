import { requireActiveAccount, type SignInHandlers } from "../../core/accounts/accounts.ts";
import type { Db } from "../../platform/db/database.ts";
import { type CounterRule, countUse } from "../../platform/db/database-counter.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type HandlerRequest, type Handlers, RawResponse } from "../../platform/http/handler.ts";
import { ASSISTANT_SCOPES, type AssistantScope } from "../../platform/http/route.ts";
import type { Reach } from "../../platform/reach.ts";
import { RedirectedError, readAuthorizationRequest, resultUrl } from "./authorization-request.ts";
import { consentPage, oauthErrorPage, type ShownClient, signInPage } from "./consent-page.ts";
import { type ConsentTicket, type ConsentTickets, passwordMark, TICKET_SECONDS } from "./consent-tickets.ts";
import { type ConsentingUser, createGrant, findConsentingUser, listChoices } from "./create-grant.ts";
import type { OAuthClient, OAuthClients } from "./oauth-clients.ts";
import { OAuthError } from "./oauth-error.ts";
import { OAuthFields } from "./oauth-fields.ts";
import { policySourceOf } from "./redirect-uris.ts";
import type { OAuthAddresses } from "./server-metadata.ts";
import type { oauthWireContract } from "./wire-contract.ts";

const HTML = "text/html; charset=utf-8";

interface HtmlPageOptions {
  /** Where its form may end besides here, as a source of a Content-Security-Policy. */
  redirectSource?: string;
  headers?: Record<string, string> | undefined;
}

export interface AuthorizeDeps {
  db: Db;
  clients: OAuthClients;
  tickets: ConsentTickets;
  addresses: OAuthAddresses;
  signIn: Pick<SignInHandlers, "check" | "rememberDevice">;
}

type AuthorizeHandlers = Pick<
  Handlers<typeof oauthWireContract>,
  "authorizePage" | "authorizeSignIn" | "consent"
>;
type PageRequest = HandlerRequest<(typeof oauthWireContract)["consent" | "authorizeSignIn"]>;

/** The counter is forgotten after the ticket has expired. */
const ONE_USE: CounterRule = { limit: 1, wait: "window", seconds: TICKET_SECONDS };

/** The parameters that the sign-in form sends again. */
const REQUEST_FIELDS = [
  "response_type",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
  "resource",
];

/** The pages on which a user signs in and decides about an application. The only cookie is that of a known device. */
export function authorizeHandlers(deps: AuthorizeDeps): AuthorizeHandlers {
  return {
    authorizePage: ({ input }) => withPageErrors(deps, () => showSignIn(deps, new OAuthFields(input))),
    authorizeSignIn: (request) => withPageErrors(deps, () => signIn(deps, request)),
    consent: (request) => withPageErrors(deps, () => decide(deps, request)),
  };
}

/**
 * A refusal as a page. Anybody can register a redirect address, so the browser does not go there by itself before its
 * user has signed in (RFC 9700, 4.11.2).
 */
async function withPageErrors(
  { addresses }: AuthorizeDeps,
  run: () => Promise<RawResponse>,
): Promise<RawResponse> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof RedirectedError) {
      const { code, message } = error.refusal;
      const result = { error: code, error_description: message };
      const { redirect_uri } = error.target;
      const back = { redirect_uri, url: resultUrl(error.target, addresses.issuer, result) };
      return htmlPage(oauthErrorPage(message, back), 400);
    }
    if (error instanceof OAuthError) return htmlPage(oauthErrorPage(error.message), 400);
    throw error;
  }
}

interface SignInAttempt {
  status?: number;
  email?: string;
  problem?: string;
}

async function showSignIn(
  deps: AuthorizeDeps,
  fields: OAuthFields,
  { status, ...shown }: SignInAttempt = {},
): Promise<RawResponse> {
  const { clients, addresses } = deps;
  const { client, request } = await readAuthorizationRequest(fields, { clients, ...addresses });
  const { issuer } = addresses;
  const sent = REQUEST_FIELDS.flatMap((name): [string, string][] => {
    const value = fields.optional(name);
    return value === undefined ? [] : [[name, value]];
  });
  const html = signInPage({
    client: { ...client, redirect_uri: request.redirect_uri },
    fields: Object.fromEntries(sent),
    cancelUrl: resultUrl(request, issuer, { error: "access_denied" }),
    ...shown,
  });
  return htmlPage(html, status);
}

const CHANGE_PASSWORD_FIRST =
  "This password was set for you. Sign in to the panel, choose your own, and come back.";

async function signIn(deps: AuthorizeDeps, by: PageRequest): Promise<RawResponse> {
  requireOwnPage(by, deps.addresses);
  const { clients, addresses, tickets } = deps;
  const fields = new OAuthFields(by.input);
  const { client, request } = await readAuthorizationRequest(fields, { clients, ...addresses });
  const email = fields.optional("email", 320)?.trim() ?? "";
  const password = fields.optional("password", 1_024) ?? "";
  const account = Number(fields.optional("account_id", 15) ?? Number.NaN);
  const account_id = Number.isSafeInteger(account) && account > 0 ? account : undefined;
  let user: Awaited<ReturnType<SignInHandlers["check"]>>;
  try {
    user = await deps.signIn.check({ email, password, account_id }, by);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status >= 500) throw error;
    const wait =
      error.retryAfterSeconds === undefined ? "" : ` (${Math.ceil(error.retryAfterSeconds)} seconds)`;
    const problem = `${error.message.replace(" the seconds in Retry-After", " a moment")}${wait}`;
    return showSignIn(deps, fields, { status: error.status, email, problem });
  }
  if (user.must_change_password)
    return showSignIn(deps, fields, { status: 403, email, problem: CHANGE_PASSWORD_FIRST });
  const { instances } = await listChoices(deps.db, user);
  const ticket = await tickets.issue({
    user_id: user.id,
    password: passwordMark(user.password_hash),
    request,
  });
  const [only, ...others] = instances;
  const chosen = { instances: only && others.length === 0 ? [only.id] : [], scopes: request.scopes };
  const { redirect_uri } = request;
  const headers = deps.signIn.rememberDevice(user, by.headers);
  return showConsent(deps, { client, redirect_uri, ticket, user, chosen, headers });
}

interface ShownConsent {
  client: OAuthClient;
  redirect_uri: string;
  ticket: string;
  user: Reach & { name: string; account_name: string };
  chosen: { instances: readonly number[]; scopes: readonly AssistantScope[] };
  problem?: string;
  headers?: Record<string, string>;
}

async function showConsent({ db }: AuthorizeDeps, shown: ShownConsent): Promise<RawResponse> {
  const { client, redirect_uri, ticket, user, chosen, problem, headers } = shown;
  const { instances, hasMore } = await listChoices(db, user);
  const asking: ShownClient = { id: client.id, name: client.name, redirect_uri };
  const page = { client: asking, ticket, user, instances, hasMoreInstances: hasMore, chosen };
  const html = consentPage({ ...page, ...(problem !== undefined && { problem }) });
  const redirectSource = policySourceOf(redirect_uri);
  return htmlPage(html, problem === undefined ? 200 : 400, { redirectSource, headers });
}

async function decide(deps: AuthorizeDeps, by: PageRequest): Promise<RawResponse> {
  requireOwnPage(by, deps.addresses);
  const fields = new OAuthFields(by.input);
  const text = fields.optional("ticket", 12_000) ?? "";
  const ticket = await deps.tickets.read(text);
  const user = ticket && (await findTicketUser(deps, ticket));
  if (!ticket || !user) throw expiredPage();
  const { request } = ticket;
  const { issuer } = deps.addresses;
  if (fields.optional("decision") !== "allow") {
    await useOnce(deps, ticket);
    return redirectTo(resultUrl(request, issuer, { error: "access_denied" }));
  }
  const client = await deps.clients.get(request.client_id);
  const { instances } = await listChoices(deps.db, user);
  const choice = {
    instances: instances.map(({ id }) => id).filter((id) => isChecked(fields, `instance.${id}`)),
    scopes: ASSISTANT_SCOPES.filter((scope) => isChecked(fields, `scope.${scope}`)),
  };
  if (choice.instances.length === 0 || choice.scopes.length === 0) {
    const problem = "Choose at least one instance and one thing that it may do.";
    const { redirect_uri } = request;
    return showConsent(deps, { client, redirect_uri, ticket: text, user, chosen: choice, problem });
  }
  await useOnce(deps, ticket);
  const { ip, request_id } = by;
  const code = await createGrant(deps.db, { user, client, request, choice }, { ip, request_id });
  return redirectTo(resultUrl(request, issuer, { code }));
}

/** Throws invalid_request if the ticket has already given an answer. */
async function useOnce({ db }: AuthorizeDeps, { id }: ConsentTicket): Promise<void> {
  const seconds = await db
    .transaction()
    .execute((trx) => countUse(trx, { kind: "consent", key: Buffer.from(id) }, ONE_USE));
  if (seconds > 0) throw expiredPage();
}

function expiredPage(): OAuthError {
  return new OAuthError(
    "invalid_request",
    "This page is no longer valid. It is valid for ten minutes and for one answer.",
  );
}

function isChecked(fields: OAuthFields, name: string): boolean {
  return fields.optional(name) === "on";
}

/** The user of a ticket; undefined if the user or the password has changed since. Throws ACCOUNT_RESTRICTED. */
async function findTicketUser(
  { db }: AuthorizeDeps,
  { user_id, password }: ConsentTicket,
): Promise<ConsentingUser | undefined> {
  const user = await findConsentingUser(db, user_id);
  if (!user || passwordMark(user.password_hash) !== password) return undefined;
  requireActiveAccount(user.status);
  return user;
}

/** Browsers name the page that sends a form: it must be one of this gateway. */
function requireOwnPage({ headers }: Pick<PageRequest, "headers">, { issuer }: OAuthAddresses): void {
  const { origin, "sec-fetch-site": site } = headers;
  const isOwn = origin === undefined || origin === new URL(issuer).origin;
  if (isOwn && (site === undefined || site === "same-origin")) return;
  throw new OAuthError("invalid_request", "This form was sent by a page of another site.");
}

/** A page that runs no script and is never framed. */
function htmlPage(
  html: string,
  status = 200,
  { redirectSource, headers }: HtmlPageOptions = {},
): RawResponse {
  const formAction = ["'self'", ...(redirectSource === undefined ? [] : [redirectSource])].join(" ");
  return new RawResponse(HTML, html, status, {
    "content-security-policy": [
      "default-src 'none'",
      "style-src 'self'",
      "img-src 'self'",
      `form-action ${formAction}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex",
    // With no-referrer, browsers would hide the origin of the form.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    ...headers,
  });
}

/** Sends the browser elsewhere with GET. */
function redirectTo(url: string): RawResponse {
  return new RawResponse("text/plain; charset=utf-8", "", 303, {
    location: url,
    "cache-control": "no-store",
  });
}
