import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { makeScratchDir } from "../../../test/scratch-dir.ts";
import { ROOT } from "../../../test/source-files.ts";
import { tellWebhookStory } from "../../../test/webhook-story.ts";

const PAGE = readFileSync(join(ROOT, "docs/verifying-webhooks.md"), "utf8");

/** The sample of a language as the page shows it. */
function sampleOf(language: string): string {
  return new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(PAGE)?.[1] ?? "";
}

interface Signed {
  secret: string;
  headers: Record<string, string>;
  body: string;
  now: number;
}

/** What each language needs around its sample: reads the case that is named first, and says yes or no. */
const PROGRAMS = {
  js: {
    run: "node",
    file: "run.mjs",
    end: `
import { readFileSync } from "node:fs";
const c = JSON.parse(readFileSync(process.argv[2], "utf8"));
console.log(verify(c.secret, c.headers, Buffer.from(c.body, "base64"), c.now) ? "yes" : "no");`,
  },
  python: {
    run: "python3",
    file: "run.py",
    end: `
import json, sys
c = json.load(open(sys.argv[1]))
print("yes" if verify(c["secret"], c["headers"], base64.b64decode(c["body"]), c["now"]) else "no")`,
  },
  php: {
    run: "php",
    file: "run.php",
    end: `
$c = json_decode(file_get_contents($argv[1]), true);
echo verify($c['secret'], $c['headers'], base64_decode($c['body']), $c['now']) ? "yes\\n" : "no\\n";`,
  },
} as const;

const story = tellWebhookStory();
let folder = "";
beforeAll(async () => {
  const scratch = await makeScratchDir();
  folder = scratch.path;
  return scratch.remove;
});

function ask(language: keyof typeof PROGRAMS, signed: Signed): string {
  const { run, file, end } = PROGRAMS[language];
  const program = join(folder, file);
  const given = join(folder, "case.json");
  writeFileSync(program, `${sampleOf(language)}${end}\n`);
  writeFileSync(given, JSON.stringify(signed));
  const { stdout, stderr } = spawnSync(run, [program, given], { encoding: "utf8" });
  return `${stdout.trim()}${stderr}`;
}

describe.each(Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[])("the sample in %s", (language) => {
  const isHere = spawnSync(PROGRAMS[language].run, ["--version"]).status === 0;

  test.skipIf(!isHere)(
    "knows a real delivery from one that was changed, replayed or signed otherwise",
    async () => {
      const { secret } = await story.addWebhook();
      await story.say("Olá 👋");
      const [got] = await story.receiver.waitFor(({ body }) => body.event === "message.received");
      const headers = got?.headers as Record<string, string>;
      const raw = got?.raw ?? Buffer.alloc(0);
      const good = { secret, headers, body: raw.toString("base64"), now: Math.floor(Date.now() / 1000) };
      const changed = Buffer.concat([raw, Buffer.from(" ")]).toString("base64");
      const said = [
        good,
        { ...good, body: changed },
        { ...good, now: good.now + 400 },
        { ...good, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" },
        { ...good, headers: {} },
        // While a secret changes, any of several may fit.
        { ...good, headers: { ...headers, "webhook-signature": `v1,AAAA ${headers["webhook-signature"]}` } },
      ].map((one) => ask(language, one));
      expect(said).toEqual(["yes", "no", "no", "no", "no", "yes"]);
    },
  );

  test.skipIf(!isHere)("takes a secret that is not base64 as it is", () => {
    const vectors = JSON.parse(readFileSync(join(ROOT, "docs/events/signature-vectors.json"), "utf8"));
    for (const vector of vectors.filter(({ about }: { about: string }) => /secret|empty/.test(about))) {
      const signed = {
        secret: vector.secret,
        headers: vector,
        body: Buffer.from(vector.body.repeat(vector.times)).toString("base64"),
        now: Number(vector["webhook-timestamp"]),
      };
      expect(ask(language, signed), vector.about).toBe("yes");
    }
  });
});

test("the vectors on the page are those of the file", () => {
  const vectors = JSON.parse(readFileSync(join(ROOT, "docs/events/signature-vectors.json"), "utf8"));
  for (const vector of vectors.slice(0, 3)) {
    for (const name of ["webhook-timestamp", "x-waygate-signature", "webhook-signature"]) {
      expect(PAGE).toContain(`\`${vector[name]}\``);
    }
    if (vector.body) expect(PAGE).toContain(`\`${vector.body}\``);
  }
});
