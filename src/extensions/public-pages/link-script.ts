/**
 * Runs in the browser that opens the link. Its messages to the extension are the published ones: an id and
 * `chrome.runtime.sendMessage` in Chromium, `window.postMessage` in Firefox.
 */
export const LINK_SCRIPT = `"use strict";
const at = (id) => document.getElementById(id);
const base = location.pathname.replace(/\\/$/, "");
const storageKey = "waygate-link " + base.split("/").pop();
const EXTENSION = "ghpdcgnjffaaekflfpcgkgpbafmjldcp";
const SECTIONS = ["start", "scan", "code", "passkey", "phone-answers", "compare", "done"];
/** Errors that another try does not change. */
const FINAL = [400, 403, 404];
/** Chosen and stored before it is sent, so that a retry after a lost response comes from the same browser. */
const browser = useStorage((storage) => storage.getItem(storageKey)) ?? newSecret();
useStorage((storage) => storage.setItem(storageKey, browser));
let shown;
let section;
let isOver = false;

/** A browser may forbid storage; the link then works until the page is left. */
function useStorage(act) {
  try {
    return act(localStorage);
  } catch {
    return undefined;
  }
}

function newSecret() {
  const text = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace("=", "");
}

async function post(path, body = {}) {
  const response = await fetch(base + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ browser, ...body }),
  }).catch(() => {
    throw new Error("The gateway cannot be reached. Check the connection of this device.");
  });
  const answer = await response.json().catch(() => ({ message: "The gateway gave no answer." }));
  if (response.ok) return answer.data;
  throw Object.assign(new Error(answer.message), { status: response.status });
}

function say(text) {
  if (at("status").textContent !== text) at("status").textContent = text;
}

function complain(error) {
  at("trouble").textContent = error ? error.message ?? String(error) : "";
  at("trouble").hidden = !error;
}

/** One press of a button at a time; the others stay, since a signature may never come. What goes wrong is said. */
function press(id, event, act) {
  at(id).addEventListener(event, async (pressed) => {
    pressed.preventDefault();
    const button = pressed.submitter ?? at(id);
    button.disabled = true;
    complain();
    try {
      await act();
    } catch (error) {
      complain(error);
    }
    button.disabled = false;
  });
}

function sectionOf({ is_linked, status, qr, pairing_code, passkey }) {
  if (is_linked) return "done";
  if (passkey.state === "required") return "passkey";
  if (passkey.state === "confirmation_required") return "compare";
  if (passkey.state !== "none") return "phone-answers";
  if (pairing_code) return "code";
  if (qr) return "scan";
  return status === "connecting" || status === "qr_pending" ? undefined : "start";
}

const WORDS = {
  start: "Choose how to link.",
  scan: "Waiting for the phone to scan the code.",
  code: "Waiting for the code to be typed on the phone.",
  passkey: "WhatsApp asks for your passkey.",
  "phone-answers": "Waiting for the phone.",
  compare: "Compare the code with the one on the phone.",
  done: "Done.",
};
const ENDED = {
  qr_expired: "No phone has scanned the code in time. Begin again.",
  disconnected: "The linking has ended. Begin again.",
  error: "The gateway could not connect. Ask the sender of this link for help.",
  banned: "WhatsApp has locked this number.",
};

function show(state) {
  const next = sectionOf(state);
  const isNew = next !== section;
  section = next;
  shown = state;
  at("about").textContent = "This links a phone to “" + state.name + "”.";
  for (const name of SECTIONS) at(name).hidden = name !== section;
  at("stop-line").hidden = !["passkey", "phone-answers", "compare"].includes(section);
  if (section === "scan") showQr(state);
  at("pairing-code").textContent = state.pairing_code ? spaced(state.pairing_code) : "";
  at("compare-code").textContent = state.passkey.code ?? "";
  if (section === "passkey" && state.passkey.challenge) at("script").value = scriptFor(state.passkey.challenge);
  const isAgain = section === "scan" && state.is_refreshed;
  const words = isAgain ? "Scan the code once more." : section ? WORDS[section] : "One moment …";
  say(section === "start" && state.error ? state.error.message + " " + state.error.action
    : (section === "start" && ENDED[state.status]) || words);
  if (isNew && section === "passkey") at("sign").disabled = false;
  if (isNew && section) focusOn(section);
  tick();
}

function showQr({ qr, is_refreshed }) {
  at("again").hidden = !is_refreshed;
  if (at("qr").src !== qr) at("qr").src = qr;
}

function spaced(code) {
  return code.includes("-") ? code : code.slice(0, 4) + "-" + code.slice(4);
}

/** Announces the current step to screen readers. */
function focusOn(name) {
  const title = at(name).querySelector("h2");
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
}

function left(until) {
  const seconds = Math.max(0, Math.round((Date.parse(until) - Date.now()) / 1000));
  return Math.floor(seconds / 60) + ":" + String(seconds % 60).padStart(2, "0");
}

function tick() {
  if (!shown || isOver) return;
  const { expires_at, passkey, attempt, max_attempts } = shown;
  if (section === "scan") at("qr-time").textContent = "Code " + attempt + " of " + max_attempts + ", the next one in " + left(expires_at) + ".";
  if (section === "code") at("code-time").textContent = "The code is good for " + left(expires_at) + ".";
  for (const name of ["passkey", "compare"])
    if (section === name) at(name + "-time").textContent = "Time left: " + left(passkey.expires_at) + ".";
}

async function follow() {
  for (let since; !isOver; since = shown?.version) {
    try {
      const state = await post("/state", { since });
      show(state);
      if (state.is_linked) end();
    } catch (error) {
      if (FINAL.includes(error.status)) return fail(error);
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

function end() {
  isOver = true;
  useStorage((storage) => storage.removeItem(storageKey));
}

/** The secret stays unless the link is gone: an account that is restricted now may be in service again later. */
function fail(error) {
  isOver = true;
  if (error.status === 404) end();
  for (const name of [...SECTIONS, "stop-line"]) at(name).hidden = true;
  say("This link cannot be used.");
  complain(error);
}

const isFirefox = /firefox/i.test(navigator.userAgent);

/** The extension's response; undefined after a timeout. */
function askExtension(type, challenge, ms) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    const answer = (message) => {
      clearTimeout(timer);
      resolve(message);
    };
    if (isFirefox) askByMessage(type, challenge, answer);
    else if (globalThis.chrome?.runtime?.sendMessage) askByRuntime(type, challenge, answer);
    else answer(undefined);
  });
}

function askByRuntime(type, challenge, answer) {
  try {
    chrome.runtime.sendMessage(EXTENSION, { type, challenge }, (message) => {
      void chrome.runtime.lastError;
      answer(message);
    });
  } catch {
    answer(undefined);
  }
}

function askByMessage(type, challenge, answer) {
  const requestId = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16)).join("");
  const onMessage = ({ source, origin, data }) => {
    if (source !== window || origin !== location.origin) return;
    if (data?.source !== "waha-passkey-extension" || data.requestId !== requestId) return;
    removeEventListener("message", onMessage);
    answer(data);
  };
  addEventListener("message", onMessage);
  postMessage({ source: "waha-passkey-page", requestId, type, challenge }, location.origin);
}

async function lookForExtension() {
  const answer = await askExtension("waha-passkey-ping", undefined, 1000);
  at("with-extension").hidden = answer?.ok !== true;
  at("without-extension").hidden = answer?.ok === true;
  at("by-hand").open = answer?.ok !== true;
}

async function sign() {
  const { challenge, expires_at } = shown.passkey;
  const answer = await askExtension("waha-passkey-sign", challenge, Date.parse(expires_at) - Date.now());
  if (!answer) throw new Error("The browser extension did not answer. Try again, or do it without the extension.");
  if (!answer.ok) throw new Error("The passkey was not confirmed: " + (answer.error ?? "no reason given") + ".");
  await submit(answer.assertion);
}

/** Only what WhatsApp wants leaves the page. */
async function submit(given) {
  const { rawId, type, response } = typeof given === "string" ? JSON.parse(given) : (given ?? {});
  const { clientDataJSON, authenticatorData, signature, userHandle } = response ?? {};
  const assertion = { rawId, type, response: { clientDataJSON, authenticatorData, signature, userHandle } };
  await post("/passkey/assertion", { assertion });
}

/** For the console of web.whatsapp.com: WebAuthn wants a press of a button there. */
function scriptFor(challenge) {
  return [
    "(() => {",
    "  const options = " + JSON.stringify(challenge) + ";",
    "  const button = document.createElement('button');",
    "  button.textContent = 'Confirm with the passkey';",
    "  button.style.cssText = 'position:fixed;inset:40% 30%;z-index:99999;font-size:1.5rem';",
    "  button.onclick = async () => {",
    "    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);",
    "    const answer = JSON.stringify((await navigator.credentials.get({ publicKey })).toJSON());",
    "    await navigator.clipboard.writeText(answer).catch(() => {});",
    "    button.remove();",
    "    prompt('Copied. If not, copy this answer:', answer);",
    "  };",
    "  document.body.append(button);",
    "})();",
  ].join("\\n");
}

press("by-qr", "click", () => post("/connect"));
press("by-code", "submit", () => post("/connect", { phone: at("phone").value }));
press("sign", "click", sign);
press("copy", "click", () => navigator.clipboard.writeText(at("script").value));
press("paste", "submit", async () => {
  try {
    JSON.parse(at("answer").value);
  } catch {
    throw new Error("This is not the whole answer. Copy it again, from { to }.");
  }
  await submit(at("answer").value);
});
press("same", "click", () => post("/passkey/confirm"));
press("other", "click", () => post("/passkey/cancel"));
press("stop", "click", () => post("/passkey/cancel"));
setInterval(tick, 1000);

async function begin() {
  at("retry-line").hidden = true;
  say("Opening the link …");
  try {
    await post("/open");
  } catch (error) {
    if (FINAL.includes(error.status)) return fail(error);
    say("The link could not be opened.");
    complain(error);
    at("retry-line").hidden = false;
    return;
  }
  void lookForExtension();
  void follow();
}

press("retry", "click", begin);
begin();
`;
