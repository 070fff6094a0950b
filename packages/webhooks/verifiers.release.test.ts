import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { makeScratchDir } from "../../test/scratch-dir.ts";
import { headersOf, readSignatureVectors } from "../../test/signature-vectors.ts";
import { ROOT } from "../../test/source-files.ts";
import { setUpWebhookStory } from "../../test/webhook-story.ts";

const PAGE = readFileSync(join(ROOT, "docs/guides/verifying-webhooks.md"), "utf8");
const FOLDER = join(ROOT, "packages/webhooks");

/** The sample in a language, as on the page. */
function sampleOf(language: string): string {
  return new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(PAGE)?.[1] ?? "";
}

/** A request, and the time at which it is checked. */
interface Signed {
  secret: string;
  headers: Record<string, string | string[]>;
  body: string;
  now: number;
}

interface Verifier {
  /** The command that checks whether the language is installed. */
  probe: [command: string, option: string];
  /** The file that users copy; the sample of the page where there is none. */
  file?: string;
  /** Where the verifier is put beside the program that asks it. */
  copy: string;
  /** The program: it reads cases from a file, and prints yes or no for each. */
  program: Readonly<Record<string, string>>;
  run: [command: string, ...options: string[]];
}

const VERIFIERS: Readonly<Record<"js" | "python" | "php" | "go", Verifier>> = {
  js: {
    probe: ["node", "--version"],
    copy: "verify.mjs",
    program: {
      "ask.mjs": `
import { readFileSync } from "node:fs";
import { verify } from "./verify.mjs";
for (const { secret, headers, body, now } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  // Node joins repeated headers like this.
  const joined = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]));
  console.log(verify(secret, joined, Buffer.from(body, "base64"), now) ? "yes" : "no");
}`,
    },
    run: ["node", "ask.mjs"],
  },
  python: {
    probe: ["python3", "--version"],
    file: "python/waygate_webhooks.py",
    copy: "waygate_webhooks.py",
    program: {
      "ask.py": `
import base64, json, sys
from waygate_webhooks import verify
for c in json.load(open(sys.argv[1], encoding="utf-8")):
    print("yes" if verify(c["secret"], c["headers"], base64.b64decode(c["body"]), now=c["now"]) else "no")`,
    },
    run: ["python3", "-W", "error", "ask.py"],
  },
  php: {
    probe: ["php", "--version"],
    file: "php/waygate-webhooks.php",
    copy: "waygate-webhooks.php",
    program: {
      "ask.php": `<?php
set_error_handler(fn ($level, $text) => throw new ErrorException($text));
require __DIR__ . '/waygate-webhooks.php';
foreach (json_decode(file_get_contents($argv[1]), true) as $c) {
    $body = base64_decode($c['body']);
    $answer = Waygate\\Webhooks\\verify($c['secret'], $c['headers'], $body, now: $c['now']);
    // As a web server passes headers on: it joins repeated ones.
    $server = [];
    foreach ($c['headers'] as $name => $value) {
        $server['HTTP_' . strtoupper(strtr($name, '-', '_'))] = implode(', ', (array) $value);
    }
    $same = Waygate\\Webhooks\\verify($c['secret'], $server, $body, now: $c['now']) === $answer;
    echo $same ? ($answer ? "yes\\n" : "no\\n") : "different\\n";
}`,
    },
    run: ["php", "ask.php"],
  },
  go: {
    probe: ["go", "version"],
    file: "go/waygate.go",
    copy: "waygate/waygate.go",
    program: {
      "go.mod": "module ask\n\ngo 1.19\n",
      "main.go": `
package main

import (
	"ask/waygate"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

type request struct {
	Secret  string
	Headers map[string]any
	Body    []byte
	Now     int64
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var requests []request
	if err := json.Unmarshal(text, &requests); err != nil {
		panic(err)
	}
	for _, one := range requests {
		header := http.Header{}
		for name, value := range one.Headers {
			values, isList := value.([]any)
			if !isList {
				values = []any{value}
			}
			for _, text := range values {
				header.Add(name, text.(string))
			}
		}
		isGenuine := waygate.Verify(one.Secret, header, one.Body, time.Unix(one.Now, 0))
		fmt.Println(map[bool]string{true: "yes", false: "no"}[isGenuine])
	}
}`,
    },
    run: ["go", "run", "."],
  },
};

type Language = keyof typeof VERIFIERS;
const LANGUAGES = Object.keys(VERIFIERS) as Language[];

/** Go compiles its library during its first run on a machine. */
const PATIENCE_MS = 180_000;

const story = setUpWebhookStory();
let folder = "";
beforeAll(async () => {
  const scratch = await makeScratchDir();
  folder = scratch.path;
  return scratch.remove;
});

function textOf(language: Language): string {
  const { file } = VERIFIERS[language];
  return file === undefined ? sampleOf(language) : readFileSync(join(FOLDER, file), "utf8");
}

/** What the verifier of a language says about each request. */
async function ask(language: Language, requests: Signed[]): Promise<string[]> {
  const { copy, program, run } = VERIFIERS[language];
  const place = join(folder, language);
  const input = join(place, "requests.json");
  const files = { ...program, [copy]: textOf(language), "requests.json": JSON.stringify(requests) };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(place, name)), { recursive: true });
    await writeFile(join(place, name), text);
  }
  const [command, ...options] = run;
  const { stdout } = await promisify(execFile)(command, [...options, input], { cwd: place });
  return stdout.trim().split("\n");
}

const vectors = readSignatureVectors();

describe.each(LANGUAGES)("the verifier in %s", (language) => {
  const [command, option] = VERIFIERS[language].probe;
  const isHere = spawnSync(command, [option]).status === 0;
  const titleOf = (title: string) => (isHere ? title : `is skipped: this machine has no ${command}`);

  test("is shown on the page as it is tested", () => {
    expect(textOf(language)).toMatch(/verify/i);
    expect(PAGE).toContain(`\`\`\`${language}\n${textOf(language)}\`\`\``);
  });

  test.skipIf(!isHere)(
    titleOf("accepts and rejects the published requests, also hostile ones, without an error"),
    async () => {
      expect(vectors.length).toBeGreaterThan(30);
      const requests = vectors.map((vector) => ({
        secret: vector.secret,
        headers: headersOf(vector),
        body: Buffer.from(vector.body.repeat(vector.times)).toString("base64"),
        now: vector.now,
      }));
      const said = await ask(language, requests);
      const shown = vectors.map(({ about, valid }) => `${about}: ${valid ? "yes" : "no"}`);
      expect(said.map((answer, index) => `${vectors[index]?.about}: ${answer}`)).toEqual(shown);
    },
    PATIENCE_MS,
  );

  test.skipIf(!isHere)(
    titleOf("accepts a delivery of a gateway, and rejects it changed, replayed or with another secret"),
    async () => {
      const { secret } = await story.addWebhook();
      await story.receive("Olá 👋");
      const [got] = await story.receiver.waitFor(({ body }) => body.event === "message.received");
      const headers = got?.headers as Record<string, string>;
      const raw = got?.raw ?? Buffer.alloc(0);
      const good = { secret, headers, body: raw.toString("base64"), now: Math.floor(Date.now() / 1000) };
      const changed = Buffer.concat([raw, Buffer.from(" ")]).toString("base64");
      const said = await ask(language, [
        good,
        { ...good, body: changed },
        { ...good, now: good.now + 400 },
        { ...good, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" },
        { ...good, headers: {} },
      ]);
      expect(said).toEqual(["yes", "no", "no", "no", "no"]);
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
  for (const { headers, body } of vectors.slice(0, 3)) {
    for (const name of ["webhook-timestamp", "x-waygate-signature", "webhook-signature"]) {
      expect(PAGE).toContain(`\`${headers[name]}\``);
    }
    if (body) expect(PAGE).toContain(`\`${body}\``);
  }
});
