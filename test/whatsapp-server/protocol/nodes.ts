import { type BinaryNode, getBinaryNodeChild } from "baileys";

export type { BinaryNode } from "baileys";

export const SERVER = "s.whatsapp.net";

type Attrs = Record<string, string | number | undefined>;

export function node(tag: string, attrs: Attrs = {}, content?: BinaryNode["content"]): BinaryNode {
  const kept: BinaryNode["attrs"] = {};
  for (const [name, value] of Object.entries(attrs)) if (value !== undefined) kept[name] = String(value);
  return content === undefined ? { tag, attrs: kept } : { tag, attrs: kept, content };
}

export const children = (of: BinaryNode | undefined): BinaryNode[] =>
  Array.isArray(of?.content) ? of.content : [];

export const childrenNamed = (of: BinaryNode | undefined, tag: string): BinaryNode[] =>
  children(of).filter((one) => one.tag === tag);

export const child = (of: BinaryNode | undefined, tag: string): BinaryNode | undefined =>
  getBinaryNodeChild(of, tag);

/** Content of a node as bytes. Strings come from the token dictionary. */
export function bytes(of: BinaryNode | undefined): Buffer {
  const content = of?.content;
  if (content === undefined || Array.isArray(content)) return Buffer.alloc(0);
  return typeof content === "string" ? Buffer.from(content, "utf8") : Buffer.from(content);
}

export const childBytes = (of: BinaryNode | undefined, tag: string): Buffer => bytes(child(of, tag));

export const childUint = (of: BinaryNode | undefined, tag: string): number => {
  const raw = childBytes(of, tag);
  return raw.length === 0 ? 0 : raw.readUIntBE(0, raw.length);
};

export const result = (iq: BinaryNode, content?: BinaryNode[]): BinaryNode =>
  node("iq", { type: "result", id: iq.attrs.id, from: iq.attrs.to ?? SERVER }, content);

export const failure = (iq: BinaryNode, code: number, text: string): BinaryNode =>
  node("iq", { type: "error", id: iq.attrs.id, from: iq.attrs.to ?? SERVER }, [
    node("error", { code, text }),
  ]);

export const seconds = (at = Date.now()): number => Math.floor(at / 1000);
