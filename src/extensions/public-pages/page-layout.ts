/** Escapes text for use between tags and in attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

export function unescapeHtml(html: string): string {
  return html
    .replaceAll("&quot;", '"')
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
}

/** A page in the common frame; `body` is HTML with an element `id="content"`, the target of the skip link. */
export function pageLayout({
  title,
  body,
  head = "",
}: {
  title: string;
  body: string;
  head?: string;
}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="/docs/assets/icon.svg">
<title>${escapeHtml(title)}</title>
${head}<link rel="stylesheet" href="/docs/assets/page.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><a href="/">Waygate</a> <a href="/docs/waygate">Guide</a> <a href="/docs">Reference</a></header>
${body}
<footer><a href="/terms">Terms</a> <a href="/privacy">Privacy</a> <a href="/openapi.json">openapi.json</a>
<a href="/postman.json">Postman</a></footer>
</body>
</html>
`;
}

/** The icon for browser tabs: a gate on a road. */
export const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b6b3a"/>
<path d="M8 25V14a8 8 0 0 1 16 0v11" fill="none" stroke="#fff" stroke-width="3.4" stroke-linecap="round"/>
<path d="M16 12v13" stroke="#9be3b9" stroke-width="3.4" stroke-linecap="round"/></svg>
`;

/** The style of every page, for light and dark themes. */
export const PAGE_STYLE = `:root { color-scheme: light dark; --ink: #1c1e21; --quiet: #4d5358; --paper: #fff; --shade: #f2f4f6;
  --line: #cfd4d9; --link: #0b57d0; --go: #0b6b3a; --stop: #a31515; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --quiet: #b3bac0; --paper: #1c2022; --shade: #272c30;
  --line: #444b51; --link: #8ab4f8; --go: #49cc90; --stop: #ffb4b4; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
header, footer { display: flex; flex-wrap: wrap; gap: 0.4rem 1.2rem; padding: 0.8rem 1rem; }
header { border-bottom: 1px solid var(--line); }
header a:first-child { font-weight: 700; }
footer { border-top: 1px solid var(--line); margin-top: 2rem; }
main#content { max-width: 46rem; margin: 0 auto; padding: 1rem; }
.swagger-ui .opblock .opblock-summary .view-line-link.copy-to-clipboard { flex: 0 0 24px; }
a { color: var(--link); }
a:focus-visible, pre:focus-visible, .wide:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; background: var(--paper); padding: 0.5rem; z-index: 1; }
h1, h2, h3 { line-height: 1.25; margin: 1.8rem 0 0.6rem; }
h1 { margin-top: 0.5rem; }
li { margin: 0.3rem 0; }
code { background: var(--shade); border-radius: 3px; font-size: 0.9em; overflow-wrap: anywhere; padding: 0.1em 0.25em; }
pre { background: var(--shade); border-radius: 6px; overflow-x: auto; padding: 0.8rem; line-height: 1.45; }
pre code { background: none; overflow-wrap: normal; padding: 0; }
.wide { overflow-x: auto; background:
  linear-gradient(to right, var(--paper) 30%, transparent) 0 0 / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--paper) 30%, transparent) 100% 0 / 3rem 100% no-repeat local,
  linear-gradient(to right, var(--line), transparent) 0 0 / 0.9rem 100% no-repeat scroll,
  linear-gradient(to left, var(--line), transparent) 100% 0 / 0.9rem 100% no-repeat scroll; }
.wide::-webkit-scrollbar { height: 8px; }
.wide::-webkit-scrollbar-thumb { background: var(--line); border-radius: 4px; }
table { border-collapse: collapse; font-size: 0.93rem; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: 0.4rem 0.6rem 0.4rem 0; text-align: left; vertical-align: top; }
td code { overflow-wrap: normal; }
nav.pages { padding: 0.6rem 1rem; }
nav.pages summary { cursor: pointer; font-weight: 700; }
nav.pages ul { list-style: none; margin: 0; padding: 0; }
nav.pages p { color: var(--quiet); font-size: 0.85rem; font-weight: 700; margin: 0.9rem 0 0.1rem; }
nav li { margin: 0; }
nav li.below { font-size: 0.9rem; margin-left: 0.8rem; }
nav.pages form { display: flex; gap: 0.4rem; margin-bottom: 0.6rem; }
nav.pages input { background: var(--paper); border: 1px solid var(--quiet); border-radius: 4px; color: var(--ink); flex: 1; font: inherit;
  min-width: 0; padding: 0.25rem 0.5rem; }
nav.pages button { background: var(--shade); border: 1px solid var(--line); border-radius: 4px; color: var(--ink); cursor: pointer;
  font: inherit; padding: 0.25rem 0.6rem; }
nav.pages input:focus-visible, nav.pages button:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.results li { margin: 0.9rem 0; }
.results p { color: var(--quiet); margin: 0.1rem 0; overflow-wrap: anywhere; }
mark { background: var(--shade); color: var(--ink); font-weight: 700; }
.turn { border-top: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; justify-content: space-between;
  margin-top: 2rem; padding-top: 1rem; }
.sample { position: relative; }
.sample button { background: var(--paper); border: 1px solid var(--line); border-radius: 4px; color: var(--ink); cursor: pointer;
  font: inherit; font-size: 0.8rem; padding: 0.1rem 0.5rem; position: absolute; right: 0.4rem; top: 0.4rem; }
nav a { display: inline-block; padding: 0.2rem 0; }
nav a[aria-current] { color: var(--ink); font-weight: 700; text-decoration: none; }
.lead { font-size: 1.15rem; }
.doors { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); list-style: none; padding: 0; }
.doors li { border: 1px solid var(--line); border-radius: 6px; margin: 0; padding: 0.8rem; }
.doors span { color: var(--quiet); display: block; }
noscript { display: block; padding: 1rem; }
@media (min-width: 60rem) {
  body:has(.guide) { display: grid; grid-template-columns: 15rem minmax(0, 1fr); grid-template-rows: auto 1fr auto; min-height: 100vh; }
  body:has(.guide) > header, body:has(.guide) > footer { grid-column: 1 / -1; }
  body:has(.guide) > nav { border-right: 1px solid var(--line); }
  main#content.guide { margin: 0; max-width: 58rem; padding: 1rem 2rem; }
}
.unseen { clip-path: inset(50%); height: 1px; margin: 0; overflow: hidden; position: absolute; width: 1px; }
.swagger-ui .info .title small, .swagger-ui .info .title small.version-stamp { background: #3d4349; }
.swagger-ui .info .title small pre { background: none; color: #fff; padding: 0; }
.swagger-ui .info a, .swagger-ui .info a .url { color: var(--link); }
html body .swagger-ui .btn.try-out__btn.cancel { border-color: var(--stop); color: var(--stop); }
html body .swagger-ui .header-col { color: var(--ink); }
.swagger-ui .microlight span { color: #f0a5a5 !important; }
.swagger-ui .opblock .opblock-summary-method { color: #10181f; text-shadow: none; }
.swagger-ui .btn.execute { background: #1f5fae; border-color: #1f5fae; }
.swagger-ui .download-contents { background: #3d4349; }
html body .swagger-ui .parameter__in { color: var(--quiet); }
.swagger-ui .btn.authorize { border-color: var(--go); color: var(--go); }
.swagger-ui .btn.authorize svg { fill: var(--go); }
@media (prefers-reduced-motion: reduce) { *, ::before, ::after { animation: none !important; transition: none !important; } }
@media (max-width: 40rem) { .swagger-ui .wrapper { padding: 0 0.5rem; } }
`;
