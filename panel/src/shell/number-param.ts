import { notFound } from "@tanstack/react-router";
import { readId } from "../components/fields/read-search.ts";

/** A route whose parameter is a whole number from 1. Any other address shows the page "not found". */
export function numberParam<Name extends string>(name: Name) {
  return {
    params: {
      parse: (params: Record<Name, string>) => ({ [name]: parseId(params[name]) }) as Record<Name, number>,
      stringify: (params: Record<Name, number>) => ({ [name]: String(params[name]) }) as Record<Name, string>,
    },
  };
}

export function parseId(text: string): number {
  const id = /^\d+$/.test(text) ? readId(text) : undefined;
  if (id === undefined) throw notFound();
  return id;
}
