import { z } from "zod";
import type { CallOptions, Client } from "../client/client.ts";
import { contract } from "../contract.ts";
import type { AssistantScope, Route } from "../platform/http/route.ts";
import { rule } from "../platform/issue-codes.ts";

/** What a tool works with: the gateway, and the default instance. */
export interface ToolContext {
  readonly client: Client;
  /** The given instance, or the default one; throws a MissingInstanceError if there is neither. */
  instanceId(id: number | undefined): number;
  readonly standardInstance: number | undefined;
  /** Passed on to the client. */
  readonly options: CallOptions;
}

/** Neither the arguments nor the configuration name an instance; thrown before any request to the gateway. */
export class MissingInstanceError extends Error {
  override readonly name = "MissingInstanceError";
}

/**
 * - `read`: changes nothing
 * - `send`: safe to repeat under one idempotency key
 * - `create`: adds something new each time
 * - `change`: the same change again has no further effect
 * - `remove`: as `change`, but takes a membership or role from another person
 */
type ToolKind = "read" | "send" | "create" | "change" | "remove";

/** One tool of the assistant. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly kind: ToolKind;
  readonly input: Input;
  readonly output: z.ZodObject;
  /** Whether the result holds text of third parties: messages, names, subjects. */
  readonly isForeign: boolean;
  run(context: ToolContext, input: z.output<Input>): Promise<object>;
}

/** What a user must allow for a tool; undefined for the list of the instances, which every assistant needs. */
export function scopeOf({ name, kind }: Pick<Tool, "name" | "kind">): AssistantScope | undefined {
  if (name === "get_instances") return undefined;
  if (kind === "read" || kind === "send") return kind;
  return "groups";
}

/** Declares a tool and preserves the exact types of its arguments. */
export function tool<Input extends z.ZodObject>(declared: Tool<Input>): Tool {
  return declared;
}

/** The shape of a route's response, with its envelope. */
export function responseOf({ output, beside }: Pick<Route, "output" | "beside">) {
  return z.object({ success: z.literal(true), message: z.string(), data: output, ...beside?.shape });
}

const { number, jid } = contract.sendText.input.shape;
const { limit, cursor, instance_id } = contract.listConversations.input.shape;

/** Every tool accepts it. */
export const instanceArgument = {
  instanceId: instance_id.describe(
    "Numeric instance id. Default: the configured instance, otherwise the one of the key.",
  ),
};

export const recipientArguments = {
  number: number.describe("Phone: digits with country and area code. Give either this or `jid`."),
  jid: jid.describe("JID of a person or a group. Give either this or `number`."),
};

export const pageArguments = { limit, cursor };

/** Arguments that must name a recipient. */
export function withRecipient<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .object({ ...instanceArgument, ...recipientArguments, ...shape })
    .refine(
      (target: { number?: unknown; jid?: unknown }) =>
        target.number !== undefined || target.jid !== undefined,
      {
        path: ["number"],
        ...rule("number or jid is required", "one_of_required", { fields: "number, jid" }),
      },
    );
}
