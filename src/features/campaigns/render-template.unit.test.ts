import { describe, expect, test } from "vitest";
import {
  invalidPlaceholdersOf,
  type RecipientFacts,
  renderTemplate,
  valuesOf,
  variablesOf,
} from "./render-template.ts";

const NOBODY: RecipientFacts = { phone: "5511999990001", variables: {}, lead: null, contact_name: null };
const render = (template: string, facts: Partial<RecipientFacts> = {}) =>
  renderTemplate(template, valuesOf({ ...NOBODY, ...facts }));

describe("the text for a recipient", () => {
  test("has the values of its variables, in any case and with spaces", () => {
    const variables = { City: "Recife", "order no": "7", ação: "sim", "a.b-c_d": "x" };
    expect(render("{{city}} {{ CITY }} {{\n Order No }} {{AÇÃO}} {{a.b-c_d}}", { variables })).toBe(
      "Recife Recife 7 sim x",
    );
  });

  test("is empty where a variable has no value", () => {
    expect(render("Hi {{name}}!")).toBe("Hi !");
  });

  test("has the phone of the recipient, whatever the variables say", () => {
    expect(render("{{phone}}", { variables: { phone: "1" } })).toBe("5511999990001");
  });

  test("prefers the recipient's own value, then the lead's, then the contact's", () => {
    const lead = { name: "Bia", email: "bia@example.com", custom_fields: { Name: "field", plan: "gold" } };
    const contact_name = "Bia from the phone";
    expect(render("{{name}}", { contact_name })).toBe("Bia from the phone");
    expect(render("{{name}}", { contact_name, lead: { ...lead, name: null } })).toBe("field");
    expect(render("{{name}} {{email}}", { contact_name, lead })).toBe("Bia bia@example.com");
    expect(render("{{name}}", { contact_name, lead, variables: { name: "B." } })).toBe("B.");
  });

  test("ignores empty values, so that the next source counts", () => {
    const lead = { name: "", email: null, custom_fields: {} };
    expect(render("{{name}}", { contact_name: "Bia", lead, variables: { name: "" } })).toBe("Bia");
  });

  test("has custom fields by their name, with or without the prefix", () => {
    const lead = { name: null, email: null, custom_fields: { Plan: "gold", seats: 0, is_new: false } };
    expect(render("{{plan}} {{custom_fields.plan}} {{seats}} {{is_new}}", { lead })).toBe(
      "gold gold 0 false",
    );
  });

  test("keeps what only looks like a variable", () => {
    const template = "{{name|you}} {{}} {{ }} {name} {{a";
    expect(render(template, { contact_name: "Bia" })).toBe(template);
  });

  test("has no variable with a name of more than 64 characters", () => {
    const longest = `a${"b".repeat(62)}c`;
    expect(render(`{{${longest}}}`, { variables: { [longest]: "x" } })).toBe("x");
    expect(render(`{{${longest}d}}`, { variables: { [`${longest}d`]: "x" } })).toBe(`{{${longest}d}}`);
  });
});

describe("a template", () => {
  test("names its variables once each, in lower case", () => {
    expect(variablesOf("{{Name}} {{ name }} {{city}} {{a b}} {{x|y}}")).toEqual(["name", "city", "a b"]);
    expect(variablesOf("no variable")).toEqual([]);
  });

  test("names what only looks like a variable, once each", () => {
    expect(invalidPlaceholdersOf("{{name}} {{name|you}} {{name|you}} {{}} {{open} {{open2")).toEqual([
      "{{name|you}}",
      "{{}}",
      "{{open}",
      "{{open2",
    ]);
    expect(invalidPlaceholdersOf("Hi {{name}} {one}")).toEqual([]);
  });
});
