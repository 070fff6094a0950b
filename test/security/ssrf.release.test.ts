import { expect, test } from "vitest";
import { isFullRun, printFigures } from "./run-size.ts";
import { forgeRequests } from "./ssrf.ts";

/** Fields whose address the gateway requests at once or during a test; the list may grow by itself. */
const CALLED = [
  "sendText/text",
  "sendMedia/url",
  "sendMedia/base64",
  "sendMedia/file/url",
  "createCampaign/media/url",
  "updateCampaign/media/url",
  "sandboxReceive/media/url",
  "createWebhook/url",
  "saveIntegration/n8n/config/webhook_url",
  "saveIntegration/typebot/config/base_url",
  "saveIntegration/chatwoot/config/url",
  "setProfilePhoto/url",
  "setProfilePhoto/base64",
  "updateGroupSettings/image",
  "saveQuickReply/media_url",
  "createInstance/webhook_url",
  "createInstance/webhook/url",
  "createInstance/proxy/url",
  "updateInstance/proxy/url",
  "testProxy/url",
];

test("A gateway that may reach an internal server calls it for these fields: the attack below is real", {
  timeout: 1_200_000,
}, async () => {
  const { fields, hits } = await forgeRequests({ everyField: isFullRun, forms: 1, isOpen: true });
  printFigures("Fields whose address is called where that is allowed", { fields, called: hits });
  expect(CALLED.filter((name) => !hits.some((hit) => hit.includes(name)))).toEqual([]);
});

test("No field of the contract makes the gateway call an internal address, in any form or by a redirect", {
  timeout: 1_200_000,
}, async () => {
  const figures = await forgeRequests({ everyField: isFullRun, forms: isFullRun ? 12 : 4 });
  printFigures("Forged addresses", figures);
  expect(figures.hits).toEqual([]);
  expect(figures.redirected).toBeGreaterThan(5);
});
