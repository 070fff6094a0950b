import { OAuthError } from "./oauth-error.ts";

const MOST_CHARACTERS = 4_000;

/** The parameters of an OAuth request: each is one text, and an empty one counts as absent. */
export class OAuthFields {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  names(): string[] {
    return Object.keys(this.#values);
  }

  /** Throws invalid_request for a repeated or a long parameter. */
  optional(name: string, most = MOST_CHARACTERS): string | undefined {
    const value = Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
    if (value === undefined || value === "") return undefined;
    if (typeof value !== "string")
      throw new OAuthError("invalid_request", `${name} must be given once, as a text.`);
    if (value.length > most)
      throw new OAuthError("invalid_request", `${name} is longer than ${most} characters.`);
    return value;
  }

  /** Throws invalid_request also for an absent parameter. */
  required(name: string, most = MOST_CHARACTERS): string {
    const value = this.optional(name, most);
    if (value === undefined) throw new OAuthError("invalid_request", `${name} is required.`);
    return value;
  }
}
