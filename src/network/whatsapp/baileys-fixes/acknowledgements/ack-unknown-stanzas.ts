// Baileys 7.0.0-rc14 ignores stanzas whose kind it does not know; the network redelivers them and ends the stream.
// Not reported upstream; https://github.com/WhiskeySockets/Baileys/pull/2779 (open) describes the same for stories.
import { type BinaryNode, buildAckStanza, getBinaryNodeChild, type WASocket } from "baileys";

/** Acknowledgements on their way; the network delivers again what has none. */
const MOST_PENDING = 1_000;

const LISTENED = /^CB:([^,]+)/;

/** Acknowledges each stanza that has an id and no listener, and answers each such query; `onUnknown` receives its tag. */
export function ackUnknownStanzas({ ws, sendNode }: WASocket, onUnknown: (tag: string) => void): void {
  const known = new Set(ws.eventNames().map((name) => LISTENED.exec(String(name))?.[1]));
  let pending = 0;
  ws.on("frame", (node: BinaryNode | Uint8Array) => {
    if (node instanceof Uint8Array) return;
    const isQuery = isUnhandledQuery(ws, node);
    if (known.has(node.tag) && !isQuery) return;
    const { id } = node.attrs;
    if (id ? ws.listenerCount(`TAG:${id}`) > 0 : !isQuery) return;
    onUnknown(node.tag);
    if (pending >= MOST_PENDING) return;
    pending++;
    void sendNode(isQuery ? answerTo(node) : buildAckStanza(node, undefined, undefined))
      .catch(() => {})
      .finally(() => pending--);
  });
}

const QUERIES = new Set(["get", "set"]);

/** Listeners name a stanza by its tag, its attributes and its first child. */
function isUnhandledQuery(ws: WASocket["ws"], { tag, attrs, content }: BinaryNode): boolean {
  if (tag !== "iq" || !QUERIES.has(attrs.type ?? "")) return false;
  const child = Array.isArray(content) ? (content[0]?.tag ?? "") : "";
  const named = Object.entries(attrs).flatMap(([name, value]) => [name, `${name}:${value}`]);
  const names = [
    tag,
    `${tag},,${child}`,
    ...named.flatMap((one) => [`${tag},${one}`, `${tag},${one},${child}`]),
  ];
  return names.every((name) => ws.listenerCount(`CB:${name}`) === 0);
}

/** As WhatsApp's own client answers a ping; other queries are refused. */
function answerTo(query: BinaryNode): BinaryNode {
  const { id, from = "" } = query.attrs;
  const attrs = { to: from, ...(id && { id }) };
  const isPing = query.attrs.xmlns === "urn:xmpp:ping" || getBinaryNodeChild(query, "ping") !== undefined;
  if (isPing) return { tag: "iq", attrs: { ...attrs, type: "result" } };
  const error = { tag: "error", attrs: { code: "501", text: "feature-not-implemented" } };
  return { tag: "iq", attrs: { ...attrs, type: "error" }, content: [error] };
}
