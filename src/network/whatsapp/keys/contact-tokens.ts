import { type BinaryNode, isJidBot, type WASocket } from "baileys";
import type { Jid } from "../../driver.ts";
import { resultWithin } from "../../result-within.ts";
import type { AccountFacts } from "../keys/account-facts.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import type { ItemCache, SessionCaches } from "../keys/session-caches.ts";
import type { WriteBehindKeyStore } from "../keys/write-behind-key-store.ts";

export interface ContactTokensOptions {
  sock: WASocket;
  keyStore: WriteBehindKeyStore;
  identities: IdentityStore;
  facts: AccountFacts;
  caches: Pick<SessionCaches, "createCache">;
}

/** The tokens between us and a person, as Baileys stores them. */
export interface StoredTokens {
  /** The person's token for us; empty if there is none. */
  token: Uint8Array;
  /** When the person gave it. Seconds since the epoch, like the next one. */
  timestamp?: string | undefined;
  /** When the person got ours. */
  senderTimestamp?: number | undefined;
}

const KIND = "tctoken";
const TOKENS_MS = 5_000;
/** The network counts the age of tokens in weeks, and accepts one of this week and of the three before. */
const WEEK_S = 7 * 24 * 3_600;
const WEEKS = 4;

/**
 * Tokens that let messages to a person in. A person who knows us gives us a token; for a first contact, one is made
 * from a salt of the account.
 */
export class ContactTokens {
  readonly #options: ContactTokensOptions;
  /** Trades of tokens, also those without a response, by person. Its lifetime is the wait before the next one. */
  readonly #trades: ItemCache<Promise<StoredTokens | undefined>>;

  constructor(options: ContactTokensOptions) {
    this.#options = options;
    this.#trades = options.caches.createCache("trade");
  }

  /**
   * What a message to this person needs besides the person's token, which Baileys adds if it is stored. Trades tokens
   * with the person first if this week's trade is missing.
   */
  async nodesFor(address: Jid): Promise<BinaryNode[]> {
    const { identities, facts } = this.#options;
    const person = await identities.identify(address);
    if (!person || identities.isMe(address) || isJidBot(address)) return [];
    const storedAs = person.lid ?? person.jid;
    const known = await this.#find(storedAs);
    if (hasToken(known) || hasToken(await this.#trade(address, storedAs, known))) return [];
    const content = person.lid && facts.contactTokenFor(person.lid);
    return content ? [{ tag: "cstoken", attrs: {}, content }] : [];
  }

  /** The person's token as part of a query about the person; the network never responds to one about ourselves. */
  async tokenNodes(jid: Jid): Promise<BinaryNode[]> {
    if (this.#options.identities.isMe(jid)) return [];
    const person = await this.#options.identities.identify(jid);
    const known = person && (await this.#find(person.lid ?? person.jid));
    return hasToken(known) ? [{ tag: "tctoken", attrs: {}, content: known.token }] : [];
  }

  async #find(jid: Jid): Promise<StoredTokens | undefined> {
    const { [jid]: stored } = await this.#options.keyStore.get(KIND, [jid]);
    return stored as StoredTokens | undefined;
  }

  /** Gives the person our token, at most once a week, or again some time after the network did not respond. */
  async #trade(address: Jid, storedAs: Jid, known?: StoredTokens): Promise<StoredTokens | undefined> {
    if (weekOf(known?.senderTimestamp) >= weekOf(Date.now() / 1000)) return known;
    let trade = this.#trades.get(storedAs);
    if (!trade) {
      trade = this.#ask(address, storedAs, known).catch(() => undefined);
      this.#trades.set(storedAs, trade);
    }
    const traded = await trade;
    if (!traded && !this.#options.sock.ws.isOpen) this.#trades.del(storedAs);
    return traded ?? known;
  }

  /** Stores the token that comes back; undefined without a response. */
  async #ask(address: Jid, storedAs: Jid, known?: StoredTokens): Promise<StoredTokens | undefined> {
    const { sock, keyStore } = this.#options;
    const now = Math.floor(Date.now() / 1000);
    const response = await resultWithin(sock.issuePrivacyTokens([address], now), TOKENS_MS);
    if (!response) return undefined;
    const stored = { token: new Uint8Array(), ...known, ...tokenIn(response), senderTimestamp: now };
    await keyStore.set({ [KIND]: { [storedAs]: stored as unknown as { token: Buffer } } });
    return stored;
  }
}

function hasToken(tokens: StoredTokens | undefined): tokens is StoredTokens {
  const age = weekOf(Date.now() / 1000) - weekOf(Number(tokens?.timestamp));
  return tokens !== undefined && tokens.token.length > 0 && age < WEEKS;
}

function weekOf(seconds: number | undefined): number {
  return Math.floor((seconds || 0) / WEEK_S);
}

/** The person's token in the response to ours. */
function tokenIn({ content }: BinaryNode): Pick<StoredTokens, "token" | "timestamp"> | undefined {
  const tokens = Array.isArray(content) ? content.find(({ tag }) => tag === "tokens") : undefined;
  const [given] = Array.isArray(tokens?.content) ? tokens.content : [];
  if (given?.attrs.type !== "trusted_contact" || !(given.content instanceof Uint8Array)) return undefined;
  return { token: Buffer.from(given.content), timestamp: given.attrs.t };
}
