const HEAD = `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/docs/assets/favicon-32x32.png">`;

/** What the root of the gateway shows to a browser. */
export const HOME_PAGE = `<!doctype html>
<html lang="en">
<head>
${HEAD}
<title>Waygate</title>
<link rel="stylesheet" href="/docs/assets/page.css">
</head>
<body>
<main>
<h1>Waygate</h1>
<p>A self-hosted, multi-instance messaging gateway to WhatsApp Web sessions: send and receive messages over HTTP,
get signed webhooks, and lose nothing that was acknowledged.</p>
<ul>
<li><a href="/docs">Interactive reference</a>: every route, to read and to try</li>
<li><a href="/openapi.json">openapi.json</a>: the same for machines, OpenAPI 3.1</li>
<li><a href="/health">Health</a>: whether this gateway is ready</li>
</ul>
<p>Sign in with <code>POST /api/auth/login</code>, create an instance with <code>POST /api/v1/instances</code>,
then use its API key as <code>x-api-key</code>.</p>
</main>
</body>
</html>
`;

/** The interactive reference; its script and its style come from our own routes. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
${HEAD}
<title>Waygate: reference</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<link rel="stylesheet" href="/docs/assets/page.css">
</head>
<body class="reference">
<noscript>The interactive reference needs JavaScript. The description itself is <a href="/openapi.json">here</a>.</noscript>
<div id="reference"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/start.js"></script>
</body>
</html>
`;

export const PAGE_STYLE = `:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fff; --link: #0b57d0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --paper: #1c2022; --link: #8ab4f8; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
main { max-width: 40rem; margin: 0 auto; padding: 1.5rem 1rem; }
a { color: var(--link); }
li { margin: 0.4rem 0; }
code { overflow-wrap: anywhere; }
noscript { display: block; padding: 1rem; }
@media (max-width: 40rem) { .reference .swagger-ui .wrapper { padding: 0 0.5rem; } }
`;

export const START_SCRIPT = `const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  validatorUrl: null,
});
`;
