import { z } from "zod";
import { contract } from "../contract.ts";
import { responseOf, type Tool, type ToolContext, tool, withRecipient } from "./tool.ts";

/** An option that a recipient can choose, with its number in the text. */
interface NumberedOption {
  number: number;
  id: string;
  text: string;
}

interface NumberedText {
  text: string;
  options: NumberedOption[];
}

interface Buttons {
  text: string;
  title?: string | undefined;
  footer?: string | undefined;
  buttons: readonly { id: string; text: string }[];
}

interface List {
  text: string;
  title?: string | undefined;
  buttonText?: string | undefined;
  sections: readonly {
    title?: string | undefined;
    rows: readonly { id: string; title: string; description?: string | undefined }[];
  }[];
}

const { text, message_id } = contract.sendReply.input.shape;
const { mime_type, file_name, caption, view_once } = contract.sendMedia.input.shape;
const { latitude, longitude, name, address } = contract.sendLocation.input.shape;

const label = z.string().trim().min(1).max(1000);
const optionId = z.string().min(1).max(256).describe("Returned in `options` with the number of the choice.");

/** Strict like the arguments themselves: an unknown key would be left out of the message. */
const button = z.strictObject({ id: optionId, text: label });
const row = z.strictObject({ id: optionId, title: label, description: label.optional() });
const section = z.strictObject({ title: label.optional(), rows: z.array(row).min(1).max(100) });

const FALLBACK = "Sent as numbered text (`fallback: true`), because this network shows none; the result";

const NUMBERED = responseOf(contract.sendText).extend({
  fallback: z.literal(true),
  text: z.string().describe("As sent."),
  options: z.array(z.object({ number: z.number().int(), id: z.string(), text: z.string() })),
});

export const SEND_TOOLS: readonly Tool[] = [
  tool({
    name: "send_message",
    kind: "send",
    isForeign: false,
    description: "Send a text to a person or a group. Returns after the network's acknowledgement.",
    input: withRecipient({ text }),
    output: responseOf(contract.sendText),
    run: ({ client, instanceId, options }, { instanceId: id, ...input }) =>
      client.sendText({ id: instanceId(id), ...input }, options),
  }),
  tool({
    name: "send_media",
    kind: "send",
    isForeign: false,
    description: "Send an image, video, audio, sticker or document from an address.",
    input: withRecipient({
      mediaUrl: z.string().min(1).describe("Address of the file, which the gateway fetches; or a data URI."),
      mimeType: mime_type.describe("Default: detected from the content."),
      caption,
      fileName: file_name,
      viewOnce: view_once,
    }),
    output: responseOf(contract.sendMedia),
    run: ({ client, instanceId, options }, { instanceId: id, mediaUrl, mimeType, fileName, ...input }) => {
      const { viewOnce, ...rest } = input;
      const file = { url: mediaUrl, mime_type: mimeType, file_name: fileName, view_once: viewOnce };
      return client.sendMedia({ id: instanceId(id), ...file, ...rest }, options);
    },
  }),
  tool({
    name: "send_buttons",
    kind: "send",
    isForeign: false,
    description: `Send a text with up to three choices. ${FALLBACK} maps each number to its id.`,
    input: withRecipient({
      text,
      buttons: z.array(button).min(1).max(3, "has at most 3 buttons; send_list accepts more"),
      title: label.optional(),
      footer: label.optional(),
    }),
    output: NUMBERED,
    run: (context, { instanceId, number, jid, ...input }) =>
      sendNumbered(context, { instanceId, number, jid }, buttonsToText(input)),
  }),
  tool({
    name: "send_list",
    kind: "send",
    isForeign: false,
    description: `Send a list of choices in sections. ${FALLBACK} maps each number to its id.`,
    input: withRecipient({
      title: label.optional(),
      text,
      buttonText: label.optional().describe("Text above the choices."),
      sections: z.array(section).min(1).max(100),
    }),
    output: NUMBERED,
    run: (context, { instanceId, number, jid, ...input }) =>
      sendNumbered(context, { instanceId, number, jid }, listToText(input)),
  }),
  tool({
    name: "send_reply",
    kind: "send",
    isForeign: false,
    description: "Reply to a message with a text that quotes it.",
    input: withRecipient({ messageId: message_id.describe("`message_id` of the message to quote."), text }),
    output: responseOf(contract.sendReply),
    run: ({ client, instanceId, options }, { instanceId: id, messageId, ...input }) =>
      client.sendReply({ id: instanceId(id), message_id: messageId, ...input }, options),
  }),
  tool({
    name: "send_location",
    kind: "send",
    isForeign: false,
    description: "Send a place.",
    input: withRecipient({ latitude, longitude, name, address }),
    output: responseOf(contract.sendLocation),
    run: ({ client, instanceId, options }, { instanceId: id, ...input }) =>
      client.sendLocation({ id: instanceId(id), ...input }, options),
  }),
];

interface Recipient {
  instanceId: number | undefined;
  number: string | undefined;
  jid: string | undefined;
}

async function sendNumbered(
  { client, instanceId, options: callOptions }: ToolContext,
  { instanceId: id, ...to }: Recipient,
  { text: numbered, options }: NumberedText,
): Promise<object> {
  const sent = await client.sendText({ id: instanceId(id), ...to, text: numbered }, callOptions);
  return { ...sent, fallback: true, text: numbered, options };
}

/** Buttons as text, since the network shows real buttons only from official accounts. */
function buttonsToText({ title, text, buttons, footer }: Buttons): NumberedText {
  const options = buttons.map((button, index) => ({
    number: index + 1,
    id: button.id,
    text: oneLine(button.text),
  }));
  const lines = options.map((option) => `${option.number}. ${option.text}`);
  return { text: paragraphs(title, text, lines.join("\n"), footer), options };
}

/** A list as text; the numbers continue across sections. */
function listToText({ title, text, buttonText, sections }: List): NumberedText {
  const options: NumberedOption[] = [];
  const blocks = sections.map((section) => {
    const rows = section.rows.map((row) => {
      const option = { number: options.length + 1, id: row.id, text: oneLine(row.title) };
      options.push(option);
      return `${option.number}. ${option.text}${row.description ? ` - ${oneLine(row.description)}` : ""}`;
    });
    return [...(section.title ? [oneLine(section.title)] : []), ...rows].join("\n");
  });
  const lead = buttonText ? `${oneLine(buttonText)}:` : undefined;
  return { text: paragraphs(title, text, lead, ...blocks), options };
}

/** A line break inside an option would look like another option. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function paragraphs(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part.trim() !== "").join("\n\n");
}
