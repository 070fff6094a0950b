import type {
  Anonymisation,
  AnonymisationPart,
  AnonymisationStep,
} from "../../core/personal-data/personal-data.ts";
import type { DataRequestTable } from "../../tables.ts";

export type AnonymisationScope = NonNullable<DataRequestTable["scope"]>;

/** The parts of each scope; a conversation consists of its messages. */
export const PARTS_OF_SCOPE: Readonly<Record<AnonymisationScope, readonly AnonymisationPart[]>> = {
  account: ["account"],
  messages: ["messages"],
  leads: ["leads"],
  conversations: ["conversations", "messages"],
  all: ["account", "messages", "leads", "conversations"],
  person: ["messages", "leads", "conversations"],
};

/** Whether the request needs the step. */
export function isRequested(
  { parts, only }: AnonymisationStep,
  run: Pick<Anonymisation, "parts" | "person">,
): boolean {
  const isForThem = only === undefined || (only === "person") === (run.person !== undefined);
  return isForThem && parts.some((part) => run.parts.has(part));
}
