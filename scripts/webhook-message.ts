import { contract } from "../src/contract.ts";
import { createTypePrinter } from "./type-printer.ts";

/** Fields of a stored message that events leave out. */
const NOT_IN_EVENTS = { error: true, client_message_id: true, metadata: true } as const;

/** packages/webhooks/src/webhook-message.ts: the type of the message in events, without zod. */
export function webhookMessageFile(): string {
  const printer = createTypePrinter();
  const type = printer.print(contract.getMessage.output.omit(NOT_IN_EVENTS), "output");
  const declarations = printer.declarations().map((one) => `\n${one}\n`);
  return `// Written by \`npm run generate\` from the contract.

/** The message in events about a message. */
export type WebhookMessage = ${type};
${declarations.join("")}`;
}
