import type { Readable } from "node:stream";
import type { Engine, LaneKind } from "../engine/engine.ts";
import type { RecurringJob } from "../engine/recurring-jobs.ts";
import type { ReachableSession } from "../network/driver.ts";
import type { Config } from "../platform/config/config.ts";
import type { Database, Db } from "../platform/db/database.ts";
import type { Contract } from "../platform/http/route.ts";
import type { FileRoute } from "../platform/http/server/add-file-route.ts";
import type { ReasonTable } from "../platform/issue-codes.ts";
import type { Log } from "../platform/log/log.ts";
import type { SafeFetch } from "../platform/outgoing/safe-fetch.ts";
import type { SecretBox } from "../platform/secrets/secret-box.ts";
import type { PathTokenVerifier } from "./accounts/access/authorise.ts";
import type { SignInHandlers } from "./accounts/accounts.ts";
import type { Conversations, FindCountry, NumberResolver } from "./contacts/contacts.ts";
import type { EventPayloads } from "./event-payloads.ts";
import type { DoctorFinding } from "./health/doctor-checks.ts";
import type { CoreHooks, CoreHooksPart } from "./hooks.ts";
import type { OpenedFile } from "./media/open-file.ts";
import type { NodeMedia } from "./media/open-media.ts";
import type { OutcomeRecorder } from "./messages/send/record-outcome.ts";
import type { TableDeclarations } from "./personal-data/personal-data.ts";
import type { RunSessionOperation } from "./session-operations/session-operations.ts";
import type { StatementHooksPart } from "./statement-hooks.ts";

/** What a gateway can have beside its core. Its folder and its line in the list of extensions are all of it. */
export interface Extension {
  /** The name of its folder. */
  name: string;
  /** Names of the extensions whose code or tables it uses. */
  needs?: readonly string[];
  /** Its routes, which are also in src/contract.ts. */
  contract?: Contract;
  /** Routes that openapi.json does not describe. */
  undescribed?: Contract;
  /** The events that it records. */
  events?: EventPayloads;
  /** Codes of its failures beside those of core, and the fields that have them; for the page of error codes. */
  reasons?: { shownIn: string; codes: ReasonTable };
  /** Its tables, and the personal data in them: an account's removal and an anonymisation find it here. */
  tables?: TableDeclarations;
  /** What it does in statements of core, also while it is switched off. */
  inStatements?: StatementHooksPart;
  /** Its lines of `waygate doctor`. */
  examine?(db: Db, config: Config): Promise<DoctorFinding[]>;
  /** What it adds to core. Made before sessions and routes. */
  hooks?(base: ExtensionBase): CoreHooksPart | Promise<CoreHooksPart>;
  /** Its routes and its work. Made last. */
  open?(parts: ExtensionParts): OpenedExtension | Promise<OpenedExtension>;
}

/** What exists before sessions and routes. */
export interface ExtensionBase {
  config: Config;
  db: Db;
  /** For what a request itself does. */
  requestDb: Db;
  databaseUrl: string;
  /** The sandbox network's own connections. */
  sandbox: Database;
  engine: Engine;
  box: SecretBox;
  outgoing: SafeFetch;
  dataDir: string;
  log: Log;
}

/** What core offers to extensions. */
export interface ExtensionParts extends ExtensionBase {
  hooks: CoreHooks;
  /** The secret key, and during a key change the second key. */
  secrets: readonly [string, ...string[]];
  signIn: SignInHandlers;
  conversations: Conversations;
  numbers: NumberResolver;
  findCountry: FindCountry;
  /** The live session of an instance, on this node or another, while it is connected. */
  findSession(instanceId: number): Promise<ReachableSession | undefined>;
  /** Like `findSession`, but also while the instance is being paired. */
  findPairingSession(instanceId: number): Promise<ReachableSession | undefined>;
  /** Runs an operation on the live session of an instance. */
  runOperation: RunSessionOperation;
  media: NodeMedia;
  /** Opens the file of a message, after its download if necessary. */
  openFile(mediaId: string): Promise<OpenedFile>;
  outcomes: OutcomeRecorder;
  /** Forgets the events that this node keeps for their deliveries. */
  clearDeliveries(): void;
  /** Requests a stream from another node; undefined if that node is unreachable or has nothing. */
  readFromNode(
    node: string,
    request: { name: string; input: Record<string, unknown> },
  ): Promise<Readable | undefined>;
  /** Every event that this gateway records. */
  eventPayloads: EventPayloads;
  /** The OpenAPI document of this gateway. */
  describeApi(): string;
  /** Serves a message of the Model Context Protocol. */
  serveMcp: ExtensionHandlers[string];
  version: string;
}

/** Handlers of the routes of one extension, by their names. */
export type ExtensionHandlers = Readonly<Record<string, (request: never) => Promise<unknown>>>;

export interface OpenedExtension {
  handlers?: ExtensionHandlers;
  lanes?: readonly LaneKind[];
  recurringJobs?: readonly RecurringJob[];
  /** Verifies tokens in the paths of its routes. */
  pathTokens?: PathTokenVerifier;
  /** HTML for a browser that requests a missing page. */
  notFoundPage?: string;
  files?: FileRoute;
}
