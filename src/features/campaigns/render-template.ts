const VARIABLE = /\{\{\s*([\p{L}\p{N}_.-](?:[\p{L}\p{N}_.\- ]{0,62}[\p{L}\p{N}_.-])?)\s*\}\}/gu;

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

/** Text that looks like a variable but is not valid, such as `{{name|you}}`: it is sent unchanged. */
export function invalidPlaceholdersOf(template: string): string[] {
  return [...new Set(template.replace(VARIABLE, "").match(/\{\{[^{}]{0,64}\}?\}?/g) ?? [])];
}

/** The text for one recipient; a variable without a value becomes an empty string. */
export function renderTemplate(template: string, values: ReadonlyMap<string, string>): string {
  return template.replace(VARIABLE, (_, name: string) => values.get(name.toLowerCase()) ?? "");
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
