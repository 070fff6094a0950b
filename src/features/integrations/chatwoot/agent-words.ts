import type { ChatwootConfig } from "./config.ts";
import { toWhatsApp } from "./markup.ts";
import type { AgentMessage } from "./webhook-body.ts";

interface Item {
  title?: unknown;
  value?: unknown;
  description?: unknown;
  link?: unknown;
  label?: unknown;
}

const PLAIN = new Set(["text", "input_csat", ""]);
const WITH_ITEMS = new Set(["input_select", "cards", "form", "article"]);

/** What an agent's message says on WhatsApp; undefined for a kind that cannot be said there. */
export function agentWords(config: ChatwootConfig, message: AgentMessage): string | undefined {
  const kind = message.content_type ?? "";
  if (!PLAIN.has(kind) && !WITH_ITEMS.has(kind)) return undefined;
  const said = toWhatsApp(message.content ?? "");
  const text = WITH_ITEMS.has(kind) ? [said, ...itemsOf(message)].filter(Boolean).join("\n") : said;
  return signed(config, message, text);
}

function itemsOf({ content_attributes }: AgentMessage): string[] {
  const items = content_attributes?.items;
  if (!Array.isArray(items)) return [];
  return (items as Item[]).map((item, at) => {
    const words = [item.title ?? item.label ?? item.value, item.description, item.link];
    const shown = words.filter((one): one is string => typeof one === "string" && one !== "");
    return `${at + 1}. ${shown.join(" – ")}`;
  });
}

/** What Chatwoot sends by itself has no author. */
function signed(config: ChatwootConfig, { message_type, sender }: AgentMessage, text: string): string {
  const name = message_type === "outgoing" ? sender?.name : undefined;
  if (!config.sign_messages || !name || text === "") return text;
  return `*${name}:*${config.signature_delimiter}${text}`;
}
