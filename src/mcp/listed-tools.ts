import type { Tool as ListedTool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { GROUP_TOOLS } from "./group-tools.ts";
import { READ_TOOLS } from "./read-tools.ts";
import { SEND_TOOLS } from "./send-tools.ts";
import { isSecretName } from "./to-tool-result-text.ts";
import type { Tool } from "./tool.ts";

export const TOOLS: readonly Tool[] = [...SEND_TOOLS, ...GROUP_TOOLS, ...READ_TOOLS];

let listed: ListedTool[] | undefined;

/** The tools as a host sees them; described once, because each HTTP request has a server of its own. */
export function listedTools(): ListedTool[] {
  listed ??= TOOLS.map(toListed);
  return listed;
}

function toListed(tool: Tool): ListedTool {
  const { name, description, input } = tool;
  return {
    name,
    title: titleOf(name),
    description,
    inputSchema: {
      ...z.toJSONSchema(input, { io: "input" }),
      additionalProperties: false,
    } as ListedTool["inputSchema"],
    outputSchema: outputSchemaOf(tool),
    annotations: annotationsOf(tool),
  };
}

function annotationsOf({ kind, isForeign }: Tool): ListedTool["annotations"] {
  return {
    readOnlyHint: kind === "read",
    destructiveHint: kind === "remove",
    idempotentHint: kind === "read" || kind === "change" || kind === "remove",
    openWorldHint: isForeign || kind !== "read",
  };
}

/** What the gateway's response looks like after the changes of `toToolResultText`. */
function outputSchemaOf({ output, isForeign }: Tool): ListedTool["outputSchema"] {
  const shape = isForeign ? z.object({ untrusted: z.string(), ...output.shape }) : output;
  const schema = z.toJSONSchema(shape, {
    io: "output",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      // A field that a newer gateway adds is no error.
      delete jsonSchema.additionalProperties;
      // Some hosts pass the whole list to their model.
      delete jsonSchema.description;
      delete jsonSchema.pattern;
      const { properties = {}, required } = jsonSchema;
      const secret = Object.keys(properties).filter(isSecretName);
      for (const name of secret) delete properties[name];
      if (secret.length > 0 && required)
        jsonSchema.required = required.filter((name) => !secret.includes(name));
    },
  });
  return schema as ListedTool["outputSchema"];
}

/** The title that a host shows: "send_message" becomes "Send message". */
function titleOf(name: string): string {
  const title = name.replaceAll("_", " ");
  return `${title.charAt(0).toUpperCase()}${title.slice(1)}`;
}
