const VARIABLE = /\{\{\s*([\p{L}\p{N}_.-](?:[\p{L}\p{N}_.\- ]{0,62}[\p{L}\p{N}_.-])?)\s*\}\}/gu;

/** Most characters of a message that the network takes. */
export const LONGEST_MESSAGE = 65_536;
/** Different variables of a template, and of a recipient. */
export const MAX_VARIABLES = 50;

/** The sources of a recipient's variables. The first with a value wins: own, the lead's, the contact's. */
export interface RecipientFacts {
  phone: string;
  variables: Record<string, string>;
  lead: {
    name: string | null;
    email: string | null;
    custom_fields: Record<string, string | number | boolean>;
  } | null;
  contact_name: string | null;
}

/** The names of the variables of a template, in lower case: `{{Name}}` is `{{name}}`. */
export function variablesOf(template: string): string[] {
  return [...new Set([...template.matchAll(VARIABLE)].map(([, name = ""]) => name.toLowerCase()))];
}

/** Text that looks like a variable but is not valid, such as `{{name|you}}`: it is sent unchanged. The first 50. */
export function invalidPlaceholdersOf(template: string): string[] {
  const found = template.replace(VARIABLE, "").match(/\{\{[^{}]{0,64}\}?\}?/g) ?? [];
  return [...new Set(found)].slice(0, MAX_VARIABLES);
}

/** Renders a template for one recipient; a variable without a value becomes an empty string. */
export type TemplateRenderer = (values: ReadonlyMap<string, string>) => string;

/**
 * Reads a template once for many recipients. A text that is too long for a message is cut behind its first character too
 * many.
 */
export function createRenderer(template: string): TemplateRenderer {
  // Plain text and names take turns, because the pattern has one group.
  const parts = template.split(VARIABLE).map((part, at) => (at % 2 === 0 ? part : part.toLowerCase()));
  return (values) => {
    let text = "";
    for (const [at, part] of parts.entries()) {
      text += at % 2 === 0 ? part : (values.get(part) ?? "");
      if (text.length > LONGEST_MESSAGE) return text.slice(0, LONGEST_MESSAGE + 1);
    }
    return text;
  };
}

/** Fills in what is known; the braces of any other variable stay. */
export function fillKnown(template: string, facts: RecipientFacts): string {
  const blanks = variablesOf(template).map((name): [string, string] => [name, `{{${name}}}`]);
  return createRenderer(template)(new Map([...blanks, ...valuesOf(facts)]));
}

export function valuesOf({ phone, variables, lead, contact_name }: RecipientFacts): Map<string, string> {
  const values = new Map<string, string>();
  const set = (name: string, value: string | number | boolean | null | undefined) => {
    if (value !== null && value !== undefined && value !== "") values.set(name.toLowerCase(), String(value));
  };
  set("name", contact_name);
  for (const [name, value] of Object.entries(lead?.custom_fields ?? {})) {
    set(name, value);
    set(`custom_fields.${name}`, value);
  }
  set("name", lead?.name);
  set("email", lead?.email);
  for (const [name, value] of Object.entries(variables)) set(name, value);
  set("phone", phone);
  return values;
}
