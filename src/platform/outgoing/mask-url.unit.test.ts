import { expect, it } from "vitest";
import { maskUrl } from "./mask-url.ts";

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
  ["nonsense user:pass@", "[not a URL]"],
])("a URL is masked: %s as %s", (url, masked) => {
  expect(maskUrl(url)).toBe(masked);
});
