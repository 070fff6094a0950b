import { type RawBuilder, sql } from "kysely";
import type { LoggedContent, StoredContent } from "./message-view.ts";

const MAX_WORDS = 500;
const MAX_WORD = 40;

/** Letters that do not decompose; the database's `search_form` has the same. */
const LETTERS: Readonly<Record<string, string>> = {
  ł: "l",
  ø: "o",
  đ: "d",
  ð: "d",
  ħ: "h",
  ŧ: "t",
  ı: "i",
  ß: "ss",
  æ: "ae",
  œ: "oe",
  þ: "th",
};

/** The words of a text in lower case, without accents, each once. */
export function tokenize(text: string): string[] {
  const plain = text
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[łøđðħŧıßæœþ]/g, (letter) => LETTERS[letter] ?? letter);
  const words = plain.match(/[\p{Letter}\p{Number}]+/gu) ?? [];
  return [...new Set(words.map((word) => [...word].slice(0, MAX_WORD).join("")))].slice(0, MAX_WORDS);
}

/**
 * The search words of a message, a type other than text included. Each word has its instance as prefix, so
 * that a search reads no other instance.
 */
export function searchWords(instanceId: number, content: LoggedContent): string[] {
  if (content.kind === "unsupported") return [];
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
      return [content, ...(content.more ?? [])].flatMap(({ name, phone }) => [name, phone]);
  }
}

/** Finds messages of any of the instances with all words; words of two letters or more match as prefixes. */
export function searchQuery(instanceIds: readonly number[], text: string): RawBuilder<unknown> | null {
  const words = tokenize(text).map((word) => ({ word, mark: [...word].length > 1 ? ":*" : "" }));
  if (words.length === 0) return null;
  const ofOne = (id: number) => `(${words.map(({ word, mark }) => `'${id}:${word}'${mark}`).join(" & ")})`;
  return sql`${instanceIds.map(ofOne).join(" | ")}::tsquery`;
}

/** Finds messages of any of the instances with a type other than text. */
export function typeQuery(instanceIds: readonly number[], type: string): RawBuilder<unknown> {
  return sql`${instanceIds.map((id) => `'${id}:#${type}'`).join(" | ")}::tsquery`;
}
