import { z } from "zod";
import type { CallOptions, Client } from "../client/client.ts";
import { contract } from "../contract.ts";

/** What a tool works with: the gateway, and which instance is meant when none is named. */
export interface ToolContext {
  readonly client: Client;
  /** The instance that is named, else the standard one; throws a MissingInstance when there is neither. */
  instanceId(given: number | undefined): number;
  readonly standardInstance: number | undefined;
  /** To be handed on to the client. */
  readonly options: CallOptions;
}

/** Neither the arguments nor the environment name an instance; thrown before anything was asked of the gateway. */
export class MissingInstanceError extends Error {
  override readonly name = "MissingInstance";
}

/**
 * - `read`: changes nothing
 * - `send`: safe to repeat under one idempotency key
 * - `change`: adds or changes
 * - `remove`: takes something from somebody
 */
type ToolKind = "read" | "send" | "change" | "remove";

/** One thing that an assistant can do. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly kind: ToolKind;
  readonly input: Input;
  /** Whether the answer holds what other people have written: messages, names, subjects. */
  readonly isForeign: boolean;
  ask(call: ToolContext, given: z.output<Input>): Promise<object>;
}

/** Declares a tool; keeps the exact types of its arguments. */
export function tool<Input extends z.ZodObject>(declared: Tool<Input>): Tool {
  return declared;
}

const { number, jid } = contract.sendText.input.shape;
const { limit, cursor, instance_id } = contract.listConversations.input.shape;

/** Every tool takes it. */
export const instanceArgument = {
  instanceId: instance_id.describe(
    "Numeric instance id; absent: the one of WAYGATE_INSTANCE_ID, else of the key.",
  ),
};

export const recipientArguments = {
  number: number.describe("Phone: digits with country and area code. Either this or `jid`."),
  jid: jid.describe("Of a person or a group. Wins over `number`."),
};

export const pageArguments = { limit, cursor };

/** Arguments that must name somebody. */
export function withRecipient<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .object({ ...instanceArgument, ...recipientArguments, ...shape })
    .refine(
      (given: { number?: unknown; jid?: unknown }) => given.number !== undefined || given.jid !== undefined,
      {
        path: ["number"],
        message: "number or jid is required",
      },
    );
}
