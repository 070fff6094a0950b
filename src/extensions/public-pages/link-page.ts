import { pageLayout } from "./page-layout.ts";

/** The published extensions that sign a challenge of web.whatsapp.com for pages like this one. */
const CHROME_EXTENSION = "https://chromewebstore.google.com/detail/ghpdcgnjffaaekflfpcgkgpbafmjldcp";
const FIREFOX_EXTENSION = "https://addons.mozilla.org/firefox/addon/whatsapp-browser-extension/";

/** Guides the user of a one-time link; its script uses the link's JSON routes. */
export const LINK_PAGE = pageLayout({
  title: "Link a phone: Waygate",
  head: '<link rel="stylesheet" href="/docs/assets/link.css">\n',
  body: `<main id="content" class="linking">
<h1>Link WhatsApp</h1>
<p id="about" class="lead"></p>
<noscript>This page needs JavaScript.</noscript>
<p id="status" role="status" aria-live="polite">Opening the link …</p>
<p id="trouble" role="alert" hidden></p>
<p id="retry-line" hidden><button id="retry" type="button">Try again</button></p>

<section id="start" aria-labelledby="start-title" hidden>
<h2 id="start-title">Begin</h2>
<p>Keep the phone ready whose WhatsApp is to be linked.</p>
<p><button id="by-qr" type="button">Show a QR code</button></p>
<form id="by-code">
<p><label for="phone">Or get a code to type on the phone. Its number, with country and area code:</label>
<input id="phone" name="phone" type="tel" inputmode="tel" autocomplete="tel" required minlength="7" maxlength="30">
<button type="submit">Get a code</button></p>
</form>
</section>

<section id="scan" aria-labelledby="scan-title" hidden>
<h2 id="scan-title">Scan this code</h2>
<ol><li>Open WhatsApp on the phone.</li><li>Open <b>Linked devices</b>, then <b>Link a device</b>.</li>
<li>Point the phone at this code.</li></ol>
<p id="again" hidden><strong>Scan the code once more.</strong> WhatsApp wanted a new one; that is part of linking.</p>
<p><img id="qr" alt="QR code to scan with WhatsApp" width="320" height="320"></p>
<p id="qr-time" class="time"></p>
</section>

<section id="code" aria-labelledby="code-title" hidden>
<h2 id="code-title">Type this code on the phone</h2>
<ol><li>Open WhatsApp on the phone.</li><li>Open <b>Linked devices</b>, then <b>Link a device</b>, then
<b>Link with phone number instead</b>.</li><li>Type the code.</li></ol>
<p><output id="pairing-code" class="big"></output></p>
<p id="code-time" class="time"></p>
</section>

<section id="passkey" aria-labelledby="passkey-title" hidden>
<h2 id="passkey-title">Confirm with your passkey</h2>
<p>WhatsApp wants the passkey of this account before it links a device. Only a browser on web.whatsapp.com can use it.
Use a computer that has the passkey, or that can reach the phone by Bluetooth.</p>
<p id="passkey-time" class="time"></p>
<div id="with-extension" hidden>
<p><button id="sign" type="button">Confirm with the passkey</button></p>
<p>The browser extension opens web.whatsapp.com. Press the button that appears there.</p>
</div>
<p id="without-extension" hidden>The shortest way is a browser extension, for
<a href="${CHROME_EXTENSION}" rel="noreferrer" target="_blank">Chrome, Edge and Brave</a> or
<a href="${FIREFOX_EXTENSION}" rel="noreferrer" target="_blank">Firefox</a>. It is made by others. Reload this page after you have
installed it.</p>
<details id="by-hand">
<summary>Without the extension</summary>
<ol><li>Open <a href="https://web.whatsapp.com/" rel="noreferrer" target="_blank">web.whatsapp.com</a> in another tab.</li>
<li>Open its developer tools (F12), there <b>Console</b>, paste this script and press Enter. It does nothing but ask
for the passkey and copy the answer.</li></ol>
<p><label for="script">Script</label><textarea id="script" rows="6" readonly spellcheck="false"></textarea>
<button id="copy" type="button">Copy the script</button></p>
<p>Press the button that the script puts on that page, confirm with the passkey, and paste the answer here:</p>
<form id="paste">
<p><label for="answer">Answer</label><textarea id="answer" rows="4" required spellcheck="false"></textarea>
<button type="submit">Send the answer</button></p>
</form>
</details>
</section>

<section id="phone-answers" aria-labelledby="phone-answers-title" hidden>
<h2 id="phone-answers-title">Look at the phone</h2>
<p>The passkey is confirmed. The phone links this device now; it may ask you to continue.</p>
</section>

<section id="compare" aria-labelledby="compare-title" hidden>
<h2 id="compare-title">Compare the codes</h2>
<p>The phone shows a code. Is it this one?</p>
<p><output id="compare-code" class="big"></output></p>
<p><button id="same" type="button">Yes, it is the same</button> <button id="other" type="button" class="stop">No</button></p>
<p id="compare-time" class="time"></p>
</section>

<section id="done" aria-labelledby="done-title" hidden>
<h2 id="done-title">Linked</h2>
<p>The phone is linked. You can close this page.</p>
</section>

<p id="stop-line" hidden><button id="stop" type="button" class="stop">Cancel</button></p>
</main>
<script src="/docs/assets/link.js"></script>`,
});

export const LINK_STYLE = `main.linking { max-width: 36rem; }
.linking img { background: #fff; height: auto; image-rendering: pixelated; max-width: 100%; }
.linking button { background: var(--link); border: 0; border-radius: 6px; color: var(--paper); cursor: pointer; font: inherit;
  font-weight: 600; min-height: 2.75rem; padding: 0.4rem 1rem; }
.linking button.stop { background: none; border: 1px solid var(--line); color: var(--ink); }
.linking button:disabled { cursor: default; opacity: 0.6; }
.linking input, .linking textarea { background: var(--paper); border: 1px solid var(--quiet); border-radius: 6px; color: var(--ink);
  display: block; font: inherit; margin: 0.3rem 0 0.6rem; min-height: 2.75rem; padding: 0.4rem 0.6rem; width: 100%; }
.linking textarea { font-family: ui-monospace, monospace; font-size: 0.85rem; }
.linking button:focus-visible, .linking input:focus-visible, .linking textarea:focus-visible, .linking summary:focus-visible,
.linking h2:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.linking summary { cursor: pointer; padding: 0.5rem 0; }
.linking .big { font-family: ui-monospace, monospace; font-size: clamp(1.6rem, 9vw, 2.6rem); letter-spacing: 0.08em; }
.linking .time { color: var(--quiet); }
#trouble { border-left: 4px solid var(--stop); padding-left: 0.8rem; }
[hidden] { display: none !important; }
`;
