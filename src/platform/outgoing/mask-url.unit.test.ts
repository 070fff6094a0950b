import { expect, it } from "vitest";
import { maskUrl, originOfUrl } from "./mask-url.ts";

it.each([
  ["https://example.com/hook", "https://example.com/hook"],
  ["https://user:pass@example.com:8443/a", "https://***@example.com:8443/a"],
  ["https://user@example.com/", "https://***@example.com/"],
  ["https://example.com/a?token=x&b=&c", "https://example.com/a?token=***&b=***&***"],
  ["https://example.com/a?sesame", "https://example.com/a?***"],
  ["https://example.com/a?x=1#fragment", "https://example.com/a?x=***"],
  ["https://example.com/a?x=a=b", "https://example.com/a?x=***"],
  ["https://example.com/api/v1/message-events.php", "https://example.com/api/v1/message-events.php"],
  ["https://hooks.example/services/T0AB12CD3/B0FF/xYz", "https://hooks.example/services/***/***/***"],
  ["https://n8n.example/webhook/0b61b2f2-6d0e-4c56/chat", "https://n8n.example/webhook/***/chat"],
  ["https://api.example/bot123456:AAE-x/send/", "https://api.example/***/send/"],
  ["https://example.com/abcdefghijklmnopqrstuvwxyz", "https://example.com/***"],
  ["https://***@example.com/***/a?token=***&***", "https://***@example.com/***/a?token=***&***"],
  ["https://:pass@example.com/", "https://***@example.com/"],
  ["https://example.com/v12/v123/1v2/V1", "https://example.com/v12/***/***/***"],
  ["https://example.com/abcdefghijklmno/abcdefghijklmnop", "https://example.com/abcdefghijklmno/***"],
  ["https://example.com/a-b_c.d/a-b-c-d-e/a--b/a1/-a", "https://example.com/a-b_c.d/***/***/***/***"],
  ["https://example.com/a-abcdefghijklmno/a-abcdefghijklmnop", "https://example.com/a-abcdefghijklmno/***"],
  ["https://example.com?", "https://example.com/"],
  ["https://example.com/?=x", "https://example.com/?=***"],
  ["nonsense user:pass@", "[not a URL]"],
])("a URL is masked: %s as %s", (url, masked) => {
  expect(maskUrl(url)).toBe(masked);
});

it.each([
  ["https://user:pass@example.com:8443/bot123456:AAE-x?a=b", "https://example.com:8443"],
  ["nonsense", "[not a URL]"],
])("the origin of a URL has no secret: of %s it is %s", (url, origin) => {
  expect(originOfUrl(url)).toBe(origin);
});
