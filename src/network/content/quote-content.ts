import type { InboundContent, QuotedMessage } from "../content.ts";
import { truncateText } from "./truncate-text.ts";

/** Clients show only a few lines of a quote; the quoted message has the whole text. */
export const QUOTED_TEXT_MAX = 4096;

/** The stored part of a quoted message: bounded, and without the key of its file. */
export function quoteContent(content: InboundContent): Pick<QuotedMessage, "text" | "content"> {
  switch (content.kind) {
    case "text":
      return cutText(content.text);
    case "media": {
      const { media_type, mime_type, file_name, size, sha256, seconds } = content;
      return {
        ...cutText(content.caption),
        content: {
          kind: "media",
          media_type,
          mime_type,
          size,
          ...(file_name !== undefined && { file_name: cut(file_name) }),
          ...(sha256 !== undefined && { sha256 }),
          ...(seconds !== undefined && { seconds }),
        },
      };
    }
    case "location": {
      const { latitude, longitude, name, address } = content;
      return {
        content: {
          kind: "location",
          latitude,
          longitude,
          ...(name !== undefined && { name: cut(name) }),
          ...(address !== undefined && { address: cut(address) }),
        },
      };
    }
    case "contact":
      return { content: { kind: "contact", name: cut(content.name), phone: content.phone } };
    case "unsupported":
      return {};
  }
}

function cutText(text: string | undefined): { text?: string } {
  return text ? { text: cut(text) } : {};
}

function cut(text: string): string {
  return truncateText(text, QUOTED_TEXT_MAX);
}
