import type { ReplyPart } from "../to-replies.ts";
import { toWhatsAppText } from "./to-whatsapp-text.ts";
import type { Bubble } from "./typebot-api.ts";

const DOCUMENT = /\.(pdf|docx?|xlsx?|pptx?|csv|txt|zip|rar|7z|odt|ods|odp|rtf|epub|xml|json)$/i;
const PAGES: Readonly<Record<string, string>> = {
  youtube: "https://www.youtube.com/watch?v=",
  vimeo: "https://vimeo.com/",
  gumlet: "https://play.gumlet.io/embed/",
};

/** A bubble as a WhatsApp reply; undefined if it has no counterpart there. */
export function bubbleToReply({ type, content = {} }: Bubble): ReplyPart | undefined {
  switch (type) {
    case "text":
      return toText(textOf(content));
    case "image":
      return toImage(content);
    case "video":
      return toVideo(content);
    case "audio":
      return isWeb(content.url) ? { kind: "media", url: content.url, type: "ptt" } : undefined;
    case "embed":
      return toEmbed(content.url);
    case "custom-embed":
      return toText(isWeb(content.url) ? content.url : "");
    default:
      return undefined;
  }
}

function toText(text: string): ReplyPart | undefined {
  return text.trim() === "" ? undefined : { kind: "text", text };
}

/** Older viewers, and markdown, have other fields. */
function textOf({ richText, markdown, plainText }: Record<string, unknown>): string {
  if (richText !== undefined) return toWhatsAppText(richText);
  return [markdown, plainText].find((one) => typeof one === "string") ?? "";
}

function isWeb(url: unknown): url is string {
  return typeof url === "string" && /^https?:\/\//i.test(url) && URL.canParse(url);
}

function toImage({ url, clickLink }: Record<string, unknown>): ReplyPart | undefined {
  if (!isWeb(url)) return undefined;
  const caption = linkOf(clickLink);
  const type = /\.(gif|svg)$/i.test(new URL(url).pathname) ? "document" : "image";
  return { kind: "media", url, type, ...(caption && { caption }) };
}

function linkOf(clickLink: unknown): string | undefined {
  const url =
    typeof clickLink === "object" && clickLink !== null && "url" in clickLink ? clickLink.url : clickLink;
  return isWeb(url) ? url : undefined;
}

/** A viewer gives the page of a hosted video without its scheme. */
function toVideo({ type, url, id }: Record<string, unknown>): ReplyPart | undefined {
  if (type === "url" || type === undefined)
    return isWeb(url) ? { kind: "media", url, type: "video" } : undefined;
  const page = PAGES[String(type)];
  if (page && typeof id === "string") return toText(`${page}${id}`);
  if (typeof url !== "string" || url === "") return undefined;
  return toText(/^https?:/i.test(url) ? url : `https://${url.replace(/^\/+/, "")}`);
}

function toEmbed(url: unknown): ReplyPart | undefined {
  if (!isWeb(url)) return undefined;
  const name = decodeName(new URL(url).pathname.split("/").at(-1) ?? "");
  return DOCUMENT.test(name) ? { kind: "media", url, type: "document", file_name: name } : toText(url);
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
