import { type BinaryNode, getBinaryNodeChild, type WASocket } from "baileys";
import { toOperationError } from "./operation-error.ts";

/** WhatsApp Web's mutation `WAWebMexUpdateTextStatusJob`. */
const UPDATE_TEXT_STATUS = "9152604461510864";

interface MexResponse {
  data?: { xwa2_update_text_status?: object | null } | null;
  errors?: { message?: string; extensions?: { error_code?: number } }[];
}

/**
 * Sets the text below our name without an end; empty removes it. The old `status` query is confirmed and changes
 * nothing since April 2026: https://github.com/WhiskeySockets/Baileys/issues/2503 (open).
 */
export async function setAbout(sock: WASocket, text: string): Promise<null> {
  const input = { text: text || null, ephemeral_duration_sec: 0 };
  const response: BinaryNode = await sock.query({
    tag: "iq",
    attrs: { to: "s.whatsapp.net", type: "get", xmlns: "w:mex" },
    content: [
      {
        tag: "query",
        attrs: { query_id: UPDATE_TEXT_STATUS },
        content: Buffer.from(JSON.stringify({ variables: { input } })),
      },
    ],
  });
  const { data, errors } = readMex(response);
  const [error] = errors ?? [];
  if (error) throw refusalOf(error);
  if (!data?.xwa2_update_text_status) throw new Error("The network returned no result of the change.");
  return null;
}

function readMex(response: BinaryNode): MexResponse {
  const content = getBinaryNodeChild(response, "result")?.content;
  return content ? (JSON.parse(content.toString()) as MexResponse) : {};
}

function refusalOf({ message = "", extensions }: NonNullable<MexResponse["errors"]>[number]): Error {
  return (
    toOperationError(Number(extensions?.error_code ?? 500), message) ??
    new Error(`The network did not change the text (${message}).`)
  );
}
