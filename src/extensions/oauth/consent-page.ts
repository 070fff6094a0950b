import type { AssistantScope } from "../../platform/http/route.ts";
import { escapeHtml, pageLayout } from "../public-pages/public-pages.ts";
import { GRANT_DAYS, IDLE_DAYS } from "./issue-tokens.ts";
import { describeRedirect } from "./redirect-uris.ts";

/** The application that asks, in its own words and as far as the gateway knows it. */
export interface ShownClient {
  id: string;
  name: string;
  redirect_uri: string;
}

export interface SignInPage {
  client: ShownClient;
  /** The parameters of the request, which the form sends again. */
  fields: Readonly<Record<string, string>>;
  /** Where the browser goes if the user does not want this. */
  cancelUrl: string;
  email?: string;
  problem?: string;
}

export interface ConsentPage {
  client: ShownClient;
  ticket: string;
  user: { name: string; account_name: string };
  instances: readonly { id: number; name: string; phone: string | null }[];
  hasMoreInstances: boolean;
  /** Checked when the page opens. */
  chosen: { instances: readonly number[]; scopes: readonly AssistantScope[] };
  problem?: string;
}

const TITLE = "Connect an assistant: Waygate";
const HEAD = `<link rel="stylesheet" href="/docs/assets/link.css">
<link rel="stylesheet" href="/oauth/consent.css">
`;

const SCOPE_TEXTS: Record<AssistantScope, string> = {
  read: "Read chats, messages, contacts and groups",
  send: "Send messages",
  groups: "Create groups, and add, remove, promote and demote their members",
};

/** Asks for e-mail and password before anything about the account is shown. */
export function signInPage({ client, fields, cancelUrl, email = "", problem }: SignInPage): string {
  const hidden = Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`)
    .join("\n");
  return layout(`${aboutClient(client)}
<p>Sign in to this gateway to choose what it may use.</p>
${alert(problem)}<form method="post" action="/oauth/authorize">
${hidden}
<p><label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="320" value="${escapeHtml(email)}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024">
<label for="account_id">Account number, only if your e-mail belongs to several accounts</label>
<input id="account_id" name="account_id" inputmode="numeric" autocomplete="off" maxlength="15"></p>
<p><button type="submit">Sign in</button></p>
</form>
<p><a href="${escapeHtml(cancelUrl)}">Cancel</a></p>`);
}

/** Asks which instances and tools the assistant may use. */
export function consentPage(page: ConsentPage): string {
  const { client, ticket, user, instances, hasMoreInstances, chosen, problem } = page;
  const instanceBoxes = instances.map(({ id, name, phone }) => {
    const label = `${name} (${phone === null ? `number ${id}` : `number ${id}, +${phone}`})`;
    return checkbox(`instance.${id}`, label, chosen.instances.includes(id));
  });
  const scopeBoxes = Object.entries(SCOPE_TEXTS).map(([scope, label]) =>
    checkbox(`scope.${scope}`, label, chosen.scopes.includes(scope as AssistantScope)),
  );
  const more = hasMoreInstances ? `<p>Only the first ${instances.length} instances are listed.</p>\n` : "";
  return layout(`${aboutClient(client)}
<p>You are signed in as <b>${escapeHtml(user.name)}</b> of the account <b>${escapeHtml(user.account_name)}</b>.</p>
${alert(problem)}<form method="post" action="/oauth/consent">
<input type="hidden" name="ticket" value="${escapeHtml(ticket)}">
<fieldset><legend>Instances that it may use</legend>
${instanceBoxes.join("\n")}
</fieldset>
${more}<fieldset><legend>What it may do there</legend>
${scopeBoxes.join("\n")}
</fieldset>
<p>Messages come from other people, and an assistant may be misled by their text. Allow only what it needs. You can
disconnect it at any time. It has to ask you again after ${GRANT_DAYS} days, and earlier if it is not used for ${IDLE_DAYS} days.</p>
<p><button type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny" class="stop" formnovalidate>Do not allow</button></p>
</form>`);
}

/** Explains why the request of an application cannot be continued. `back`: where its link reports that to the application. */
export function oauthErrorPage(message: string, back?: { redirect_uri: string; url: string }): string {
  const link = back
    ? `<p><a href="${escapeHtml(back.url)}">Return to the application</a>, at
<b>${escapeHtml(describeRedirect(back.redirect_uri))}</b>, only if you have just come from there.</p>\n`
    : "";
  return layout(`<p role="alert">${escapeHtml(message)}</p>
${link}<p>Start again in the application. If this happens again, tell its maker or the operator of this gateway.</p>`);
}

function aboutClient({ id, name, redirect_uri }: ShownClient): string {
  const known = id.startsWith("https:")
    ? `It is described at <b>${escapeHtml(new URL(id).host)}</b>.`
    : "Nobody has checked this name.";
  return `<p class="lead">An application that calls itself <q>${escapeHtml(name)}</q> wants to use this gateway. ${known}</p>
<p>Afterwards your browser goes to <b>${escapeHtml(describeRedirect(redirect_uri))}</b>. Continue only if you have just
started this yourself.</p>`;
}

function alert(problem: string | undefined): string {
  return problem === undefined ? "" : `<p role="alert" class="trouble">${escapeHtml(problem)}</p>\n`;
}

function checkbox(name: string, label: string, isChecked: boolean): string {
  return `<label class="choice"><input type="checkbox" name="${escapeHtml(name)}" value="on"${
    isChecked ? " checked" : ""
  }> <span>${escapeHtml(label)}</span></label>`;
}

function layout(content: string): string {
  const body = `<main id="content" class="linking">
<h1>Connect an assistant</h1>
${content}
</main>`;
  return pageLayout({ title: TITLE, head: HEAD, body });
}

export const CONSENT_STYLE = `.linking fieldset { border: 1px solid var(--line); border-radius: 6px; margin: 1rem 0; padding: 0.6rem 1rem; }
.linking legend { font-weight: 600; padding: 0 0.3rem; }
.linking label.choice { align-items: flex-start; display: flex; gap: 0.6rem; padding: 0.4rem 0; }
.linking label.choice input { display: inline-block; flex: none; height: 1.4rem; margin: 0.1rem 0 0; min-height: 0; width: 1.4rem; }
.linking label.choice span, .linking q, .linking b { overflow-wrap: anywhere; }
.linking .trouble { border-left: 4px solid var(--stop); color: var(--stop); padding-left: 0.7rem; }
`;
