import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../src/cli/create-program.ts";
import { ROOT } from "./source-files.ts";

const PAGE = "docs/reference/command-line.md";
const page = readFileSync(join(ROOT, PAGE), "utf8");

/** Each command that does something, by its words on the command line. */
function listCommands(parent: Command, words = ""): [string, Command][] {
  return parent.commands.flatMap((command): [string, Command][] => {
    const name = `${words} ${command.name()}`.trim();
    return command.commands.length > 0 ? listCommands(command, name) : [[name, command]];
  });
}

const program = createProgram({});
const commands = listCommands(program);

/** The section of a command, from its heading to the next. */
function sectionOf(name: string): string {
  const [, section = ""] = page.split(`\n## waygate ${name}\n`);
  return section.split("\n## ")[0] ?? "";
}

/** The rows of a section's table: the option or argument, and its meaning. */
function rowsOf(section: string): string[][] {
  const cells = section.split("\n").filter((line) => line.startsWith("| `"));
  return cells.map((line) => line.replace(/^\| | \|$/g, "").split(" | "));
}

/** The row that a definition asks for. */
function toRow(term: string, description: string, fallback: unknown): string[] {
  const standard = fallback === undefined ? "" : ` (default: \`${fallback}\`)`;
  return [`\`${term}\``, `${description}${standard}`];
}

function definedRows(command: Command): string[][] {
  const { registeredArguments, options } = command;
  return [
    ...registeredArguments.map((argument) =>
      toRow(
        argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
        argument.description,
        argument.defaultValue,
      ),
    ),
    ...options.map(({ flags, description, mandatory, defaultValue }) =>
      toRow(flags, mandatory ? `${description}; required` : description, defaultValue),
    ),
  ];
}

describe(`the page ${PAGE}`, () => {
  test("has a section for every command, in the order of the help, and for no other", () => {
    const headings = [...page.matchAll(/^## waygate (.+)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(commands.map(([name]) => name));
    expect(commands.length).toBeGreaterThan(13);
    for (const { long } of program.options) expect(page).toContain(`\`waygate ${long}\``);
  });

  test.each(commands)("describes %s with each argument and option as the help does", (name, command) => {
    expect(rowsOf(sectionOf(name))).toEqual(definedRows(command));
    const [first = ""] = sectionOf(name).trim().split("\n\n");
    const description = command.description();
    expect(first.replaceAll("\n", " ")).toBe(
      `${description.charAt(0).toUpperCase()}${description.slice(1)}.`,
    );
  });
});
