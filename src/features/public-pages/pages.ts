import { page } from "./layout.ts";

/** What the root of the gateway shows to a browser. */
export const HOME_PAGE = page({
  title: "Waygate",
  body: `<main id="content">
<h1>Waygate</h1>
<p class="lead">A self-hosted, multi-instance messaging gateway to WhatsApp Web sessions: send and receive messages over
HTTP, get signed webhooks, and lose nothing that was acknowledged.</p>
<ul class="doors">
<li><a href="/docs/waygate">Guide</a><span>A first message in five minutes, then everything else.</span></li>
<li><a href="/docs">Interactive reference</a><span>Every route, to read and to try.</span></li>
<li><a href="/docs/waygate/migration">Coming from another gateway</a><span>uazapi, Evolution API or WAHA.</span></li>
<li><a href="/postman.json">Postman collection</a><span>Every route with an example body.</span></li>
<li><a href="/openapi.json">openapi.json</a><span>The description for machines, OpenAPI 3.1.</span></li>
<li><a href="/docs/production-readiness.md">Production readiness</a><span>What to see to before it counts.</span></li>
<li><a href="/health">Health</a><span>Whether this gateway is ready.</span></li>
</ul>
<p>Sign in with <code>POST /api/auth/login</code>, create an instance with <code>POST /api/v1/instances</code>,
then use its API key as <code>x-api-key</code>.</p>
</main>`,
});

/** The interactive reference; its script and its style come from our own routes. */
export const DOCS_PAGE = page({
  title: "Waygate: reference",
  head: '<link rel="stylesheet" href="/docs/assets/swagger-ui.css">\n',
  // The library brings a <main> of its own.
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
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  validatorUrl: null,
  // What the library leaves without a name, or outside of every landmark.
  onComplete: () => {
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
