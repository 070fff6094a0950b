import type { ChatwootConfig } from "./chatwoot-config.ts";
import type { AgentMessage } from "./chatwoot-webhook-body.ts";
import { toWhatsAppMarkup } from "./to-markdown.ts";

interface Item {
  title?: unknown;
  value?: unknown;
  description?: unknown;
  link?: unknown;
  label?: unknown;
  media_url?: unknown;
  actions?: unknown;
}

/** A button of a card. */
interface Action {
  text?: unknown;
  uri?: unknown;
}

const PLAIN = new Set(["text", "input_csat", ""]);
const WITH_ITEMS = new Set(["input_select", "cards", "form", "article"]);

/** The WhatsApp text of an agent's message; undefined for a kind that WhatsApp cannot show. */
export function agentMessageText(config: ChatwootConfig, message: AgentMessage): string | undefined {
  const kind = message.content_type ?? "";
  if (!PLAIN.has(kind) && !WITH_ITEMS.has(kind)) return undefined;
  const content = toWhatsAppMarkup(message.content ?? "");
  const text = WITH_ITEMS.has(kind) ? [content, ...itemsOf(message)].filter(Boolean).join("\n") : content;
  return signed(config, message, text);
}

function itemsOf({ content_attributes }: AgentMessage): string[] {
  const items = content_attributes?.items;
  if (!Array.isArray(items)) return [];
  return items.filter(isObject<Item>).map((item, at) => {
    const lines = [item.title ?? item.label ?? item.value, item.description, item.link];
    const shown = `${at + 1}. ${lines.filter(isText).join(" – ")}`;
    return [shown, ...[item.media_url].filter(isText), ...actionsOf(item)].join("\n");
  });
}

/** The buttons of a card as text, since WhatsApp Web has none: their labels and links. */
function actionsOf({ actions }: Item): string[] {
  if (!Array.isArray(actions)) return [];
  return actions
    .filter(isObject<Action>)
    .map(({ text, uri }) => [text, uri].filter(isText).join(": "))
    .filter(isText)
    .map((shown) => `• ${shown}`);
}

function isObject<T extends object>(value: unknown): value is T {
  return typeof value === "object" && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Messages that Chatwoot sends automatically have no author. */
function signed(config: ChatwootConfig, { message_type, sender }: AgentMessage, text: string): string {
  const name = message_type === "outgoing" ? sender?.name : undefined;
  if (!config.sign_messages || !name || text === "") return text;
  return `*${name}:*${config.signature_delimiter}${text}`;
}
