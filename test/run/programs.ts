import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { TestOptions } from "vitest";
import { skipUnless } from "./skip-unless.ts";

/** A program that tests need besides Node and npm packages. */
interface Program {
  /** The first one found on PATH or in the usual places is used. */
  readonly names: readonly string[];
  /** Names of projects in `vitest.config.ts`. */
  readonly projects: readonly string[];
  /** What is not tested without it. */
  readonly subject: string;
}

/** `scripts/install-programs.sh` installs all of them. */
const PROGRAMS = {
  chromium: {
    names: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    projects: ["pages", "release"],
    subject: "every page in a browser",
  },
  curl: {
    names: ["curl"],
    projects: ["gate", "release"],
    subject: "the first start, and the commands of the documents",
  },
  ffmpeg: {
    names: ["ffmpeg"],
    projects: ["shared", "extensions", "pages"],
    subject: "the conversion of audio and video",
  },
  helm: { names: ["helm"], projects: ["release"], subject: "the Helm chart" },
  "nats-server": { names: ["nats-server"], projects: ["release"], subject: "webhooks to NATS" },
  openssl: { names: ["openssl"], projects: ["shared"], subject: "signatures against OpenSSL" },
  postgres: { names: ["postgres"], projects: ["release"], subject: "a PostgreSQL of the system" },
  "rabbitmq-server": { names: ["rabbitmq-server"], projects: ["release"], subject: "webhooks to RabbitMQ" },
} satisfies Record<string, Program>;

export type ProgramName = keyof typeof PROGRAMS;

/** Debian has a folder for each version. */
const POSTGRES = "/usr/lib/postgresql";
const PLACES = [
  "/usr/bin",
  "/usr/local/bin",
  "/usr/sbin",
  "/snap/bin",
  "/opt/google/chrome",
  ...(existsSync(POSTGRES) ? readdirSync(POSTGRES).map((version) => join(POSTGRES, version, "bin")) : []),
];
const found = new Map<ProgramName, string | undefined>();

export function findProgram(name: ProgramName): string | undefined {
  if (!found.has(name)) found.set(name, find(PROGRAMS[name]));
  return found.get(name);
}

/** Options of a test or suite that needs a program. */
export function needs(name: ProgramName): TestOptions {
  return skipUnless(findProgram(name) !== undefined, `${name} is missing`);
}

/** Programs that these projects need and this machine lacks. */
export function findMissingPrograms(projects: readonly string[]): { name: string; subject: string }[] {
  return (Object.keys(PROGRAMS) as ProgramName[])
    .filter((name) => PROGRAMS[name].projects.some((project) => projects.includes(project)))
    .filter((name) => findProgram(name) === undefined)
    .map((name) => ({ name, subject: PROGRAMS[name].subject }));
}

function find({ names }: Program): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...PLACES];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(canRun);
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
