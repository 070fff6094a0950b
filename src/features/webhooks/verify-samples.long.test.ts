import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { makeScratchDir } from "../../../test/scratch-dir.ts";
import { ROOT } from "../../../test/source-files.ts";
import { setUpWebhookStory } from "../../../test/webhook-story.ts";

const PAGE = readFileSync(join(ROOT, "docs/guides/verifying-webhooks.md"), "utf8");

/** The sample in a language, as on the page. */
function sampleOf(language: string): string {
  return new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(PAGE)?.[1] ?? "";
}

interface Program {
  /** The command that checks whether the language is installed. */
  probe: [command: string, option: string];
  run: [command: string, ...options: string[]];
  file: string;
  begin?: (sample: string) => string;
  end: string;
}

interface Signed {
  secret: string;
  headers: Record<string, string>;
  body: string;
  now: number;
}

/** The program around each sample: it reads the cases from a file and prints yes or no for each. */
const PROGRAMS: Record<"js" | "python" | "php" | "go", Program> = {
  js: {
    probe: ["node", "--version"],
    run: ["node"],
    file: "run.mjs",
    end: `
import { readFileSync } from "node:fs";
for (const c of JSON.parse(readFileSync(process.argv[2], "utf8")))
  console.log(verify(c.secret, c.headers, Buffer.from(c.body, "base64"), c.now) ? "yes" : "no");`,
  },
  python: {
    probe: ["python3", "--version"],
    run: ["python3"],
    file: "run.py",
    end: `
import json, sys
for c in json.load(open(sys.argv[1])):
    print("yes" if verify(c["secret"], c["headers"], base64.b64decode(c["body"]), c["now"]) else "no")`,
  },
  php: {
    probe: ["php", "--version"],
    run: ["php"],
    file: "run.php",
    end: `
foreach (json_decode(file_get_contents($argv[1]), true) as $c)
    echo verify($c['secret'], $c['headers'], base64_decode($c['body']), $c['now']) ? "yes\\n" : "no\\n";`,
  },
  go: {
    probe: ["go", "version"],
    run: ["go", "run"],
    file: "run.go",
    begin: (sample) =>
      sample
        .replace("package waygate", "package main")
        .replace("import (", 'import (\n"encoding/json"\n"fmt"\n"os"'),
    end: `
func main() {
	var cases []struct {
		Secret  string
		Headers map[string]string
		Body    []byte
		Now     int64
	}
	given, _ := os.ReadFile(os.Args[1])
	if err := json.Unmarshal(given, &cases); err != nil {
		panic(err)
	}
	for _, c := range cases {
		header := http.Header{}
		for name, value := range c.Headers {
			header.Set(name, value)
		}
		fmt.Println(map[bool]string{true: "yes", false: "no"}[Verify(c.Secret, header, c.Body, time.Unix(c.Now, 0))])
	}
}`,
  },
};

/** Go compiles its library during its first run on a machine. */
const PATIENCE_MS = 180_000;

const story = setUpWebhookStory();
let folder = "";
beforeAll(async () => {
  const scratch = await makeScratchDir();
  folder = scratch.path;
  return scratch.remove;
});

async function ask(language: keyof typeof PROGRAMS, cases: Signed[]): Promise<string[]> {
  const { run, file, begin = (sample) => sample, end } = PROGRAMS[language];
  const [command, ...options] = run;
  const program = join(folder, file);
  const input = join(folder, `${language}.json`);
  await writeFile(program, `${begin(sampleOf(language))}${end}\n`);
  await writeFile(input, JSON.stringify(cases));
  const { stdout } = await promisify(execFile)(command, [...options, program, input]);
  return stdout.trim().split("\n");
}

/** Published cases with an unusual secret or body. */
function oddVectors(): Signed[] {
  const vectors = JSON.parse(
    readFileSync(join(ROOT, "docs/reference/events/signature-vectors.json"), "utf8"),
  );
  const odd = vectors.filter(({ about }: { about: string }) => /secret|empty/.test(about));
  expect(odd.length).toBeGreaterThan(1);
  return odd.map(({ secret, body, times, about: _, ...headers }: Record<string, string>) => ({
    secret,
    headers,
    body: Buffer.from(String(body).repeat(Number(times))).toString("base64"),
    now: Number(headers["webhook-timestamp"]),
  }));
}

/** Headers of a server that decodes Latin-1: each "é" was the byte E9 and is two bytes in UTF-8. */
function hostileHeaders(good: Record<string, string>): Record<string, string>[] {
  const signature = "webhook-signature";
  const wrong: Record<string, string>[] = [
    ...[`v1,${"é".repeat(44)}`, "é".repeat(47), "v1,", "", " ".repeat(10_000), "v1,A".repeat(25_000)].map(
      (value) => ({ [signature]: value }),
    ),
    ...["\u00b2", "\u0661", "", "-1", "1e9", "0x1", "9".repeat(5000), "NaN"].map((value) => ({
      "webhook-timestamp": value,
    })),
    { "webhook-id": "é".repeat(1000) },
  ];
  const missing = ["webhook-id", "webhook-timestamp", signature].map((name) =>
    Object.fromEntries(Object.entries(good).filter(([one]) => one !== name)),
  );
  return [...wrong.map((change) => ({ ...good, ...change })), ...missing];
}

describe.each(Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[])("the sample in %s", (language) => {
  const [command, option] = PROGRAMS[language].probe;
  const isHere = spawnSync(command, [option]).status === 0;
  const title = "accepts a genuine delivery and rejects one that was changed, replayed or signed otherwise";

  test.skipIf(!isHere)(
    isHere ? title : `is skipped: this machine has no ${command}`,
    async () => {
      const { secret } = await story.addWebhook();
      await story.receive("Olá 👋");
      const [got] = await story.receiver.waitFor(({ body }) => body.event === "message.received");
      const headers = got?.headers as Record<string, string>;
      const raw = got?.raw ?? Buffer.alloc(0);
      const good = { secret, headers, body: raw.toString("base64"), now: Math.floor(Date.now() / 1000) };
      const changed = Buffer.concat([raw, Buffer.from(" ")]).toString("base64");
      const lines = await ask(language, [
        good,
        { ...good, body: changed },
        { ...good, now: good.now + 400 },
        { ...good, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" },
        { ...good, headers: {} },
        // During a rotation any of several signatures may match.
        { ...good, headers: { ...headers, "webhook-signature": `v1,AAAA ${headers["webhook-signature"]}` } },
        ...oddVectors(),
      ]);
      expect(lines).toEqual(["yes", "no", "no", "no", "no", "yes", ...oddVectors().map(() => "yes")]);
    },
    PATIENCE_MS,
  );

  test.skipIf(!isHere)(
    isHere ? "rejects hostile headers without an error" : `is skipped: this machine has no ${command}`,
    async () => {
      const [good] = oddVectors();
      if (!good) throw new Error("There is no vector.");
      const hostile = hostileHeaders(good.headers).map((headers) => ({ ...good, headers }));
      expect(await ask(language, [good, ...hostile])).toEqual(["yes", ...hostile.map(() => "no")]);
    },
    PATIENCE_MS,
  );
});

/** The short samples of another page, which check only the signature of the body. */
describe("the sample of webhooks.md", () => {
  const page = readFileSync(join(ROOT, "docs/guides/webhooks.md"), "utf8");
  const take = (language: string) => new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(page)?.[1] ?? "";
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const body = '{"text":"Olá, Bia 👋"}';
  const good = "sha256=40382c5c1f3d8727a4703875a3d23139b5e80e63dedc0d973f16c12f252d7186";
  const given = [
    good,
    good.replace("4", "5"),
    `sha256=${"é".repeat(64)}`,
    "é".repeat(71),
    "",
    "é".repeat(50_000),
    null,
  ];
  const expected = ["yes", ...given.slice(1).map(() => "no")];

  const run = async (command: string, file: string, program: string) => {
    const path = join(folder, file);
    await writeFile(path, program);
    const input = JSON.stringify({ secret, body, given });
    const { stdout } = await promisify(execFile)(command, [path], { env: { ...process.env, CASES: input } });
    return stdout.trim().split("\n");
  };

  test("in Node accepts a valid signature and rejects hostile headers without an error", async () => {
    const sample = take("js");
    const code = sample.replace(/^import .*$/gm, "");
    const imports = sample.match(/^import .*$/gm)?.join("\n");
    const program = `${imports}
      const { secret, body, given } = JSON.parse(process.env.CASES);
      const rawBody = Buffer.from(body);
      for (const value of given) {
        const request = { headers: value === null ? {} : { "x-waygate-signature": value } };
        ${code}
        console.log(ok ? "yes" : "no");
      }`;
    expect(await run("node", "body.mjs", program)).toEqual(expected);
  });

  const hasPython = spawnSync("python3", ["--version"]).status === 0;
  const inPython = "in Python accepts a valid signature and rejects hostile headers without an error";
  test.skipIf(!hasPython)(hasPython ? inPython : "in Python is skipped: no python3", async () => {
    const program = `import json, os
sample = ${JSON.stringify(take("python"))}
cases = json.loads(os.environ["CASES"])
for value in cases["given"]:
    headers = {} if value is None else {"X-Waygate-Signature": value}
    scope = {"secret": cases["secret"], "raw_body": cases["body"].encode(), "headers": headers}
    exec(sample, scope)
    print("yes" if scope["ok"] else "no")`;
    expect(await run("python3", "body.py", program)).toEqual(expected);
  });
});

test("the signature vectors on the page are those of the file", () => {
  const vectors = JSON.parse(
    readFileSync(join(ROOT, "docs/reference/events/signature-vectors.json"), "utf8"),
  );
  for (const vector of vectors.slice(0, 3)) {
    for (const name of ["webhook-timestamp", "x-waygate-signature", "webhook-signature"]) {
      expect(PAGE).toContain(`\`${vector[name]}\``);
    }
    if (vector.body) expect(PAGE).toContain(`\`${vector.body}\``);
  }
});
