import { type proto, toNumber } from "baileys";
import { truncateText } from "../../content/truncate-text.ts";
import type { ChoiceContent, GroupInvite, TextContent } from "../../driver.ts";
import { plainJid } from "../stanzas/plain-jid.ts";

type Message = proto.IMessage;

const ID_MAX = 1024;
const PARAMS_MAX = 8192;

/** A sender's choice from buttons, a list or a form, and the texts of such messages. */
export function readChoice(message: Message): TextContent | undefined {
  const choice = choiceIn(message);
  const text =
    shownText(message) ||
    choice?.id ||
    choice?.name ||
    textOfChoices(message) ||
    inviteText(message) ||
    undefined;
  if (!text) return undefined;
  const invite = readInvite(message);
  return { kind: "text", text, ...(choice && { choice }), ...(invite && { invite }) };
}

function shownText(message: Message): string | null | undefined {
  return (
    message.buttonsResponseMessage?.selectedDisplayText ||
    message.templateButtonReplyMessage?.selectedDisplayText ||
    message.listResponseMessage?.title ||
    message.interactiveResponseMessage?.body?.text
  );
}

function textOfChoices(message: Message): string | null | undefined {
  const template = message.templateMessage ?? message.highlyStructuredMessage?.hydratedHsm;
  const interactive = message.interactiveMessage ?? template?.interactiveMessageTemplate;
  return (
    message.buttonsMessage?.contentText ||
    message.listMessage?.description ||
    message.listMessage?.title ||
    interactive?.body?.text ||
    interactive?.carouselMessage?.cards?.flatMap(({ body }) => body?.text || []).join("\n") ||
    template?.hydratedTemplate?.hydratedContentText ||
    template?.hydratedFourRowTemplate?.hydratedContentText
  );
}

function choiceIn({
  buttonsResponseMessage: button,
  templateButtonReplyMessage: template,
  listResponseMessage: list,
  interactiveResponseMessage: interactive,
}: Message): ChoiceContent | undefined {
  if (button) return choice("button", button.selectedButtonId);
  if (template) return choice("template_button", template.selectedId);
  if (list) return choice("list", list.singleSelectReply?.selectedRowId);
  const flow = interactive?.nativeFlowResponseMessage;
  if (!flow) return undefined;
  const { name, paramsJson } = flow;
  return { kind: "flow", id: null, name: bounded(name, ID_MAX), params: wholeParams(paramsJson) };
}

function choice(kind: ChoiceContent["kind"], id: string | null | undefined): ChoiceContent {
  return { kind, id: bounded(id, ID_MAX), name: null, params: null };
}

/** Truncated JSON cannot be parsed. */
function wholeParams(json: string | null | undefined): string | null {
  return json && json.length <= PARAMS_MAX ? json : null;
}

function inviteText({ groupInviteMessage: invite }: Message): string | null | undefined {
  return invite && (invite.caption || invite.groupName);
}

function readInvite({ groupInviteMessage: invite }: Message): GroupInvite | undefined {
  const group = plainJid(invite?.groupJid);
  if (!invite?.inviteCode || !group) return undefined;
  const expires = invite.inviteExpiration ? toNumber(invite.inviteExpiration) : 0;
  return {
    group,
    code: truncateText(invite.inviteCode, ID_MAX),
    name: bounded(invite.groupName, ID_MAX),
    expires_at: isTime(expires) ? new Date(expires * 1000).toISOString() : null,
  };
}

/** Seconds since the epoch, before the year 10000. */
function isTime(seconds: number): boolean {
  return seconds > 0 && seconds < 253_402_300_800;
}

function bounded(text: string | null | undefined, max: number): string | null {
  return text ? truncateText(text, max) : null;
}
