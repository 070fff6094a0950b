import type { z } from "zod";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { AcceptedResponse, OkResponse } from "../../../platform/http/handler.ts";
import type { messagesContract } from "../contract.ts";
import type { LoggedContent, MessageRow } from "../log/message-view.ts";
import { askIdOf } from "../polls/answer-by-text.ts";
import { pollOf } from "../polls/record-vote.ts";
import type { AcceptedItem, AcceptedSend } from "./accept-send.ts";
import { conversionOf } from "./conversion-of.ts";
import type { MessageOutcome } from "./outcome/outcome-watch.ts";
import { sendErrorToGatewayError } from "./send-error.ts";

export type SentData = z.input<(typeof messagesContract)["sendText"]["output"]>;
export type SendResponse = OkResponse<SentData> | AcceptedResponse;

/** The 202 of an async send. `send_at`: the message is scheduled. */
export function acceptedResponse(
  { id, message_id, job_id, content, others, send_at }: AcceptedMessage,
  headers = {},
): AcceptedResponse {
  const queued = { queued: true, jobId: job_id, pendingMessageId: message_id };
  const status = send_at ? "scheduled" : "pending";
  const items =
    others && [{ id, message_id, content }, ...others].map((one) => ({ ...toPendingItem(one), status }));
  return new AcceptedResponse(
    {
      ...queued,
      message_id,
      message: { id, status, ...(send_at && { send_at: send_at.toISOString() }) },
      ...describeContent(id, content),
      ...(items && { items }),
    },
    { message: send_at ? "Message scheduled" : "Message queued", beside: queued, headers },
  );
}

type AcceptedMessage = AcceptedSend &
  Pick<MessageRow, "content"> & { send_at?: MessageRow["send_at"] | undefined };

/** What the gateway has made of the content: the converted file, the ids of a poll's options and of a question. */
function describeContent(
  id: number,
  content: LoggedContent,
): Pick<SentData, "converted" | "hint" | "poll" | "ask_id"> {
  const poll = pollOf({ content });
  return {
    ...conversionOf(content),
    ...(poll && { poll: { options: poll.options } }),
    ...(content.ask && { ask_id: askIdOf(id) }),
  };
}

/** The 200 of a send that the network has accepted. Throws the error of one that has failed. */
export function sentResponse(
  row: MessageOutcome,
  content: LoggedContent,
  headers = {},
): OkResponse<SentData> {
  const { message_id, id, jid, status, sent_at } = row;
  if (status === "failed" || status === "received" || status === "scheduled")
    throw sendErrorToGatewayError(row.error, row, headers);
  const timestamp = sent_at.toISOString();
  return new OkResponse(
    {
      message_id,
      providerMessageId: message_id,
      id,
      jid,
      status,
      timestamp,
      ...describeContent(id, content),
    },
    { headers },
  );
}

function toPendingItem({
  id,
  message_id,
  content,
}: AcceptedItem | (AcceptedSend & Pick<MessageRow, "content">)) {
  return { message_id, id, status: "pending", ...describeContent(id, content) };
}

/**
 * The 200 of an album, of which at least one item was sent. Throws the error of the first item if none was.
 */
export function albumResponse(
  items: readonly AcceptedItem[],
  results: readonly PromiseSettledResult<OkResponse<SentData>>[],
  headers = {},
): OkResponse<SentData> {
  const sent = results.find((one) => one.status === "fulfilled");
  const failed = results.find((one) => one.status === "rejected");
  if (!sent) throw failed?.reason;
  const list = items.map((item, at) => toItem(item, results[at]));
  return new OkResponse({ ...sent.value.data, items: list }, { headers });
}

function toItem(
  item: AcceptedItem,
  result: PromiseSettledResult<OkResponse<SentData>> | undefined,
): NonNullable<SentData["items"]>[number] {
  const pending = toPendingItem(item);
  if (result?.status === "fulfilled") return { ...pending, status: result.value.data.status };
  const reason: unknown = result?.reason;
  if (!(reason instanceof GatewayError)) throw reason;
  const { code, message } = reason;
  const status = code === "SEND_TIMEOUT" && reason.details?.sent !== false ? "pending" : "failed";
  return { ...pending, status, error: { code, message } };
}
