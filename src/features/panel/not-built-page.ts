import { pageLayout } from "../public-pages/public-pages.ts";

/** What a browser sees of a gateway that runs from a checkout without a built panel. */
export const NOT_BUILT_PAGE = pageLayout({
  title: "The panel is not built · Waygate",
  body: `<main id="content">
<h1>The panel is not built</h1>
<p>This gateway runs from a checkout whose panel has not been built. The API works without it.</p>
<p>Build the panel in the checkout, then load this page again:</p>
<pre><code>npm ci
npm run build:panel</code></pre>
<p>Meanwhile: <a href="/docs/waygate">the guide</a> and <a href="/docs">the reference</a>.</p>
</main>`,
});
