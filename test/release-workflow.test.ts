import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ROOT } from "./source-files.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of a foreign file
type Json = any;

describe("the workflow that builds the images", () => {
  const { jobs } = parse(read(".github/workflows/image.yml")) as Json;
  const steps: Json[] = jobs.image.steps;
  const use = (action: string): Json => steps.find(({ uses = "" }) => uses.startsWith(`${action}@`))?.with;

  test("builds both variants for amd64 and arm64, with an SBOM and a provenance statement", () => {
    const { platforms, sbom, provenance, "build-args": args } = use("docker/build-push-action");
    expect({ platforms, sbom, provenance }).toEqual({
      platforms: "linux/amd64,linux/arm64",
      sbom: true,
      provenance: "mode=max",
    });
    const variants: Json[] = jobs.image.strategy.matrix.include;
    expect(variants).toEqual([
      { variant: "default", suffix: "", ffmpeg: false },
      { variant: "ffmpeg", suffix: "-ffmpeg", ffmpeg: true },
    ]);
    expect(args).toMatch(/^FFMPEG=\$\{\{ matrix\.ffmpeg \}\}$/);
    expect(read("Dockerfile")).toMatch(/^ARG FFMPEG=false$/m);
  });

  test("tags by SemVer, and signs what it has pushed by its digest", () => {
    const { tags, flavor } = use("docker/metadata-action");
    const patterns = [...tags.matchAll(/pattern=(\S+),value/g)].map(([, pattern]) => pattern);
    expect(patterns).toEqual(["{{version}}", "{{major}}.{{minor}}", "{{major}}"]);
    expect(flavor).toMatch(/^suffix=\$\{\{ matrix\.suffix \}\},onlatest=true$/m);
    const sign = steps.find(({ run = "" }) => run.startsWith("cosign sign"));
    expect(sign.env.IMAGE).toMatch(/@\$\{\{ steps\.build\.outputs\.digest \}\}$/);
    expect(sign.if).toBe("inputs.version != ''");
  });

  test("may push packages and sign, and is called by the release with the version", () => {
    expect(jobs.image.permissions).toEqual({ contents: "read", packages: "write", "id-token": "write" });
    const release = parse(read(".github/workflows/release.yml")).jobs as Json;
    expect(release.image).toMatchObject({
      uses: "./.github/workflows/image.yml",
      permissions: jobs.image.permissions,
      with: { version: expect.stringContaining("needs.release.outputs.version") },
    });
  });
});

describe("the workflow that releases", () => {
  const { on, jobs } = parse(read(".github/workflows/release.yml")) as Json;

  test("publishes packages and images only when release-please has created a release on main", () => {
    expect(on).toEqual({ push: { branches: ["main"] } });
    for (const name of ["npm", "image"])
      expect(jobs[name]).toMatchObject({
        needs: "release",
        if: "needs.release.outputs.is_released == 'true'",
      });
  });

  test("writes the version into everything that has one, in the pull request of the release", () => {
    const [{ run }] = jobs.release.steps.slice(-1);
    expect(run).toMatch(/node scripts\/set-version\.mjs .+\n\s*npm run generate\n/);
    const settings = JSON.parse(read("release-please-config.json"));
    expect(settings).toMatchObject({ "skip-changelog": true, packages: { ".": {} } });
  });
});
