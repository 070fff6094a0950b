import { expect, test } from "vitest";
import { z } from "zod";
import { contract } from "../../src/contract.ts";
import { chatwootConfig } from "../../src/extensions/integrations/chatwoot/chatwoot-config.ts";
import { n8nConfig } from "../../src/extensions/integrations/n8n/n8n-config.ts";
import { typebotConfig } from "../../src/extensions/integrations/typebot/typebot-config.ts";
import { readPath } from "../../src/platform/http/input/read-path.ts";
import type { Route } from "../../src/platform/http/route.ts";
import {
  bodyWith,
  fieldErrorsOf,
  fieldPaths,
  findReasonProblems,
  findRulesWithoutReason,
  refusalOf,
  textFieldsOf,
  WRONG_VALUES,
} from "./bad-requests.ts";

type Fields = Record<string, unknown>;

/** Typical messages of the validation library. */
const LIBRARY_WORDS = /\b(invalid|too (big|small)|expected|received (?!,)|unrecognized|NaN|undefined)\b/i;
/** Names of events and states, which are no sentences. */
const NAMES = /\b(message|call)\.received\b|\breceived\b(?=,| or|$)/g;

const routes: [string, Route][] = Object.entries(contract);

function refuse(route: Route, fields: Fields) {
  const isInPath = (name: string) => route.http.split("/").includes(`:${name}`);
  const path = Object.fromEntries(Object.entries(fields).filter(([name]) => isInPath(name)));
  const sent = Object.fromEntries(Object.entries(fields).filter(([name]) => !isInPath(name)));
  const isInQuery = /^(GET|DELETE) /.test(route.http);
  return refusalOf(route, { path, query: isInQuery ? sent : {}, body: isInQuery ? {} : sent });
}

test("every wrong value in any field is refused with a code, its params and a sentence of ours", () => {
  const refused = routes.flatMap(([name, route]) =>
    fieldPaths(route.input).flatMap((path) =>
      WRONG_VALUES.flatMap((value) => fieldErrorsOf(refuse(route, bodyWith(path, value)))).map((error) => ({
        place: `${name} ${error.field}: ${error.issue}`,
        isForeign: LIBRARY_WORDS.test(error.issue.replaceAll(NAMES, "")),
        unreadable: findReasonProblems(error),
      })),
    ),
  );
  expect(refused.filter(({ isForeign }) => isForeign).map(({ place }) => place)).toEqual([]);
  expect(refused.filter(({ unreadable }) => unreadable.length > 0)).toEqual([]);
  expect(refused.length).toBeGreaterThan(5000);
});

/** Configurations of integrations, which no route declares. */
const CONFIGS = { chatwootConfig, n8nConfig, typebotConfig };

test("every own validation rule has a machine-readable reason", () => {
  const inputs: z.ZodType[] = [...routes.map(([, { input }]) => input), ...Object.values(CONFIGS)];
  expect([...new Set(inputs.flatMap((input) => findRulesWithoutReason(input)))]).toEqual([]);
  expect(findRulesWithoutReason(z.object({ a: z.string().refine(() => false, "is bare") }))).toEqual([
    "is bare",
  ]);
});

const isNullable = (route: Route, path: string) =>
  JSON.stringify(
    readPath(z.toJSONSchema(route.input, { io: "input", unrepresentable: "any" }), `properties.${path}`),
  )?.includes('"null"') ?? false;

test("a null field is refused exactly like an absent one", () => {
  const uneven = routes.flatMap(([name, route]) => {
    const absent = refuse(route, {})?.message;
    const tops = fieldPaths(route.input, 0).filter((path) => !isNullable(route, path));
    return tops
      .filter((path) => refuse(route, { [path]: null })?.message !== absent)
      .map((path) => `${name} ${path}`);
  });
  expect(uneven).toEqual([]);
});

test("a wrong value in an alias is refused under the name of the alias", () => {
  const wrong = { wrong: [1] };
  const names = (route: Route, fields: Fields) =>
    fieldErrorsOf(refuse(route, fields)).map(({ field }) => field);
  const aliases = routes.flatMap(([name, route]) =>
    Object.entries(route.aliases ?? {})
      .filter(([canonical]) => names(route, { [canonical]: wrong }).includes(canonical))
      .flatMap(([, all]) => all.map((alias) => ({ name, route, alias }))),
  );
  const renamed = aliases.filter(({ route, alias }) => !names(route, bodyWith(alias, wrong)).includes(alias));
  expect(renamed.map(({ name, alias }) => `${name} ${alias}`)).toEqual([]);
  expect(aliases.length).toBeGreaterThan(200);
});

test("an error message lists the values that the field accepts", () => {
  const sentence = (name: keyof typeof contract, fields: Fields) =>
    fieldErrorsOf(refuse(contract[name], fields))
      .filter(({ field }) => Object.keys(fields).includes(field.split(".")[0] ?? ""))
      .map(({ field, issue }) => `${field}: ${issue}`)
      .join("; ");
  expect(sentence("listMessages", { limit: "abc" })).toBe("limit: must be a whole number from 1 to 200");
  expect(sentence("listMessages", { limit: "100000" })).toBe("limit: must be a whole number from 1 to 200");
  expect(sentence("sendText", { async: "yes" })).toBe("async: must be true or false");
  expect(sentence("createInstance", { network: "telegram" })).toBe("network: must be whatsapp or sandbox");
  expect(sentence("sendLocation", { latitude: 200 })).toBe("latitude: must be between -90 and 90");
  expect(sentence("sendLocation", { latitude: "north" })).toContain("from -90 to 90");
  expect(sentence("sendText", { text: [5] })).toBe("text: must be text");
  expect(sentence("sendText", { text: " \n\t\u00a0" })).toContain("blank");
  expect(sentence("sendText", { to: true })).toBe(
    "to: must be digits with country and area code, or a jid, of at most 200 characters",
  );
  expect(sentence("createWebhook", { events: ["messages"] })).toMatch(
    /^events\.0: "messages" is not the name of an event\. The names are \*, message\.\*, .*\bmessage\.received, .*integration\.paused$/,
  );
});

test("every text field of an operation has a maximum length, and no code reads a longer text", () => {
  const fields = textFieldsOf({
    ...contract,
    ...Object.fromEntries(
      Object.entries(CONFIGS).map(([name, input]) => [name, { input } as unknown as Route]),
    ),
  });
  const open = fields.filter(({ max, early }) => max === undefined || early.length > 0);
  expect(open.map(({ operation, path, early }) => `${operation}: ${path} ${early.join(", ")}`)).toEqual([]);
  expect(fields.length).toBeGreaterThan(300);
});
