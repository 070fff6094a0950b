import { type RawBuilder, sql } from "kysely";
import type { StoredContent } from "./message-view.ts";

const MAX_WORDS = 500;
const MAX_WORD = 40;

/** The words of a text as they are compared: in lower case, without accents, each once. */
export function tokenize(text: string): string[] {
  const plain = text
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase();
  const words = plain.match(/[\p{Letter}\p{Number}]+/gu) ?? [];
  return [...new Set(words.map((word) => [...word].slice(0, MAX_WORD).join("")))].slice(0, MAX_WORDS);
}

/**
 * The words that find a message, each with its instance, so that a search reads nothing of other instances. A
 * type other than text is a word too.
 */
export function searchWords(instanceId: number, content: StoredContent): string[] {
  const words = tokenize(textsOf(content).join(" "));
  const type = content.kind === "media" ? content.media_type : content.kind;
  return (type === "text" ? words : [...words, `#${type}`]).map((word) => `${instanceId}:${word}`);
}

function textsOf(content: StoredContent): (string | undefined)[] {
  switch (content.kind) {
    case "text":
      return [content.text];
    case "media":
      return [content.caption, content.file_name];
    case "location":
      return [content.name, content.address];
    case "contact":
      return [content.name, content.phone];
  }
}

/**
 * A query for messages of any of the instances that contain all the words; words of two letters or more match
 * as prefixes.
 */
export function searchQuery(instanceIds: readonly number[], text: string): RawBuilder<unknown> | null {
  const words = tokenize(text).map((word) => ({ word, mark: [...word].length > 1 ? ":*" : "" }));
  if (words.length === 0) return null;
  const ofOne = (id: number) => `(${words.map(({ word, mark }) => `'${id}:${word}'${mark}`).join(" & ")})`;
  return sql`${instanceIds.map(ofOne).join(" | ")}::tsquery`;
}

/** A query for messages of any of the instances that are of a type other than text. */
export function typeQuery(instanceIds: readonly number[], type: string): RawBuilder<unknown> {
  return sql`${instanceIds.map((id) => `'${id}:#${type}'`).join(" | ")}::tsquery`;
}
