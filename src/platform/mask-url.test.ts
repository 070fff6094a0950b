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
  ["nonsense user:pass@", "[not a URL]"],
])("masks %s as %s", (url, masked) => {
  expect(maskUrl(url)).toBe(masked);
});
