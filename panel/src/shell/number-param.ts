import { notFound } from "@tanstack/react-router";
import { readId } from "../components/fields/read-search.ts";

/** A route parameter that is a positive integer. Other values show the "not found" page. */
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
