import type { ReceivedWebhook } from "./demo-receiver.ts";

/** Reports the demo in numbered steps and plain language, with bold titles on a terminal. */
export class DemoOutput {
  readonly #isBold: boolean;
  #step = 0;

  constructor({ isBold }: { isBold: boolean }) {
    this.#isBold = isBold;
  }

  step(title: string): void {
    this.#step += 1;
    const line = `${this.#step}. ${title}`;
    this.#print(`\n${this.#isBold ? `\u001b[1m${line}\u001b[0m` : line}`);
  }

  print(text: string): void {
    this.#print(`   ${text}`);
  }

  /** Prints a webhook as received, with the result of its signature checks. */
  webhook({ event: { event, sequence, instance, data }, signed }: ReceivedWebhook): void {
    const about = data.message?.text ? ` "${data.message.text}"` : "";
    const what = `${event} of ${instance.name}, number ${sequence}${about}`;
    this.#print(`   -> webhook: ${what}\n      ${describe(signed)}`);
  }

  /** Prints a line outside the steps. */
  printAside(text: string): void {
    this.#print(`\n${text}`);
  }

  #print(text: string): void {
    console.log(text);
  }
}

function describe({ own, standard }: ReceivedWebhook["signed"]): string {
  const word = (isRight: boolean) => (isRight ? "right" : "WRONG");
  return `X-Waygate-Signature ${word(own)}, Standard Webhooks signature ${word(standard)}`;
}
