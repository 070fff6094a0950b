import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** A program of the machine that tests need beside Node and what npm installs. */
interface Program {
  /** The first of these on PATH, or in the usual places. */
  readonly names: readonly string[];
  /** Its projects, in the words of `vitest.config.ts`. */
  readonly projects: readonly string[];
  /** What is not tested without it. */
  readonly subject: string;
}

/** `scripts/install-programs.sh` installs each of them. */
const PROGRAMS = {
  chromium: {
    names: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    projects: ["pages", "release"],
    subject: "every page in a browser",
  },
  curl: { names: ["curl"], projects: ["release"], subject: "the commands of the documents" },
  ffmpeg: {
    names: ["ffmpeg"],
    projects: ["shared", "extensions"],
    subject: "the conversion of audio and video",
  },
  helm: { names: ["helm"], projects: ["release"], subject: "the Helm chart" },
  openssl: { names: ["openssl"], projects: ["shared"], subject: "signatures against OpenSSL" },
} satisfies Record<string, Program>;

export type ProgramName = keyof typeof PROGRAMS;

const PLACES = ["/usr/bin", "/usr/local/bin", "/snap/bin", "/opt/google/chrome"];
const found = new Map<ProgramName, string | undefined>();

/** The path of a program of this machine, or undefined without it. */
export function findProgram(name: ProgramName): string | undefined {
  if (!found.has(name)) found.set(name, find(PROGRAMS[name]));
  return found.get(name);
}

/** What the tests of these projects need and this machine does not have, each with its subject. */
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
