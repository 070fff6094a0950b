import { packageVersion } from "../../platform/package-version.ts";
import { escapeHtml, pageLayout } from "./page-layout.ts";

/** The page that the gateway's root shows to a browser. */
export const HOME_PAGE = pageLayout({
  title: "Waygate",
  body: `<main id="content">
<h1>Waygate</h1>
<p class="lead">A self-hosted, multi-instance messaging gateway to WhatsApp Web sessions: send and receive messages over
HTTP, get signed webhooks, and lose nothing that was acknowledged.</p>
<p>This gateway runs version ${escapeHtml(packageVersion())}. <a href="/health">Its health</a> says whether it is ready.</p>
<h2>What to do next</h2>
<ol>
<li>Sign in with the e-mail and password that the first start printed: <code>POST /api/auth/login</code>.</li>
<li>Create an instance: <code>POST /api/v1/instances</code>. It has an API key of its own, which goes into <code>x-api-key</code>.</li>
<li>Pair it with a phone, or take a <a href="/docs/waygate/sandbox">sandbox</a> instance, which needs none.</li>
<li>Send a text: <code>POST /api/v1/instances/:id/send-text</code>.</li>
</ol>
<p>The <a href="/docs/waygate">quick start</a> shows these steps as commands, the <a href="/docs">reference</a> as forms to try.</p>
<ul class="doors">
<li><a href="/docs/waygate">Guide</a><span>A first message in five minutes, then everything else.</span></li>
<li><a href="/docs">Interactive reference</a><span>Every route, to read and to try.</span></li>
<li><a href="/docs/waygate/events">Events</a><span>What webhooks get, with a payload of each.</span></li>
<li><a href="/docs/waygate/migration">Migration from another gateway</a><span>uazapi, Evolution API or WAHA.</span></li>
<li><a href="/postman.json">Postman collection</a><span>Every route with a body that works; import the file.</span></li>
<li><a href="/openapi.json">OpenAPI description</a><span>For code generators and other tools.</span></li>
<li><a href="/docs/production-readiness.md">Production readiness</a><span>What to see to before it counts.</span></li>
</ul>
</main>`,
});

/** A browser gets this page instead of a JSON error. */
export const NOT_FOUND_PAGE = pageLayout({
  title: "Not found · Waygate",
  body: `<main id="content">
<h1>There is no such page</h1>
<p>The address may be mistyped. Go on from here:</p>
<ul>
<li><a href="/">The first page of this gateway</a></li>
<li><a href="/docs/waygate">The guide</a></li>
<li><a href="/docs">The reference, with every route</a></li>
</ul>
</main>`,
});

/** The interactive reference; the gateway serves its script and style. */
export const DOCS_PAGE = pageLayout({
  title: "Waygate: reference",
  head: '<link rel="stylesheet" href="/docs/assets/swagger-ui.css">\n',
  // Swagger UI adds its own <main>.
  body: `<div id="content" class="reference">
<section aria-label="About this page"><h1 class="unseen">Waygate: interactive reference</h1></section>
<noscript>The interactive reference needs JavaScript. The description itself is <a href="/openapi.json">here</a>.</noscript>
<div id="reference"></div>
</div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/start.js"></script>`,
});

export const START_SCRIPT = `const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
// The library leaves the body that is to be sent without a name.
new MutationObserver(() => {
  for (const text of document.querySelectorAll("textarea:not([aria-label])")) text.setAttribute("aria-label", "Body");
}).observe(document.getElementById("reference"), { childList: true, subtree: true });
// As long as the tab: a key outlives a reload, but stays on no machine that others use.
const KEPT = "waygate.authorized";
const restore = () => {
  try { ui.authActions.restoreAuthorization({ authorized: JSON.parse(sessionStorage.getItem(KEPT) ?? "{}") }); } catch {}
  ui.getStore().subscribe(() => {
    const authorized = ui.getState().getIn(["auth", "authorized"]);
    sessionStorage.setItem(KEPT, JSON.stringify(authorized?.toJS?.() ?? {}));
  });
};
const ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  validatorUrl: null,
  // What the library leaves without a name, or outside of every landmark.
  onComplete: () => {
    restore();
    document.getElementById("servers")?.setAttribute("aria-label", "Gateway");
    document.querySelector(".info .title")?.setAttribute("aria-level", "2");
    const regions = { "information-container": "About", "schemes-server-container": "Gateway and key", "filter-container": "Filter" };
    for (const [name, label] of Object.entries(regions)) {
      const region = document.querySelector("." + name);
      region?.setAttribute("role", "region");
      region?.setAttribute("aria-label", label);
    }
  },
});
`;
