import { type Command, Option } from "commander";
import type { Env } from "../platform/config/config.ts";
import { helpExamples } from "./help-examples.ts";
import type { ListenOptionTexts } from "./listen/read-listen-settings.ts";
import type { SendCommandOptions } from "./send-command.ts";
import type { TryOptionTexts } from "./try/read-try-settings.ts";

/** The commands that call a gateway, as your programs do. */
export function addClientCommands(program: Command, env: Env): void {
  addTry(program, env);
  addListen(program, env);
  addSend(program, env);
}

const TRY_HELP = `
Creates an instance on the sandbox network, pairs it, sends a message, and receives its events in this program, which
verifies them. Removes what it made at the end, and when you interrupt it. No phone is needed.

Without a gateway to use, it starts one on a free port with temporary data. With --keep that gateway runs until Ctrl-C.

Environment: WAYGATE_EMAIL, WAYGATE_PASSWORD and WAYGATE_TOKEN stand for the options of these names. With a sign-in,
WAYGATE_BASE_URL names the gateway.
`;

const LISTEN_HELP = `
Creates a webhook for itself on the instance of the key, and removes it at the end. Verifies every request, and prints
one line per event to standard output; everything else goes to standard error. A webhook that a killed run left behind
is removed by the next run.

With --forward, the response of your program is the response to the gateway, which repeats a delivery that fails.

Environment: WAYGATE_BASE_URL, WAYGATE_API_KEY and WAYGATE_INSTANCE_ID stand for --url, --key and --instance, and
WEBHOOK_SECRET for --secret if there is no key.
`;

const SEND_HELP = `
Waits until the network has acknowledged the message. Exit status: 0 sent (with --async: queued), 1 refused, 2 invalid
command line. A text that begins with a dash comes after --, as in: waygate send 5511999990004 -- -5 degrees.

Environment: WAYGATE_BASE_URL, WAYGATE_API_KEY and WAYGATE_INSTANCE_ID stand for --url, --key and --instance.
`;

const URL_TEXT = "address of the gateway; default: http://127.0.0.1 at WAYGATE_PORT, or 3000";
const KEY_TEXT = "API key of an instance; visible to other users of this machine, unlike WAYGATE_API_KEY";
const INSTANCE_TEXT = "number of the instance; default: that of the key";
const HOST_TEXT = "address of this machine to listen at";
const PORT_TEXT = "port to listen at; 0: a free one";
const PUBLIC_URL_TEXT = "address at which the gateway reaches this program, for example that of a tunnel";

function addTry(program: Command, env: Env): void {
  program
    .command("try")
    .description("send a first message and receive its verified event, from nothing, in one command")
    .option("--url <url>", "address of a gateway that runs; default: start one on temporary data")
    .option("--email <email>", "e-mail of a user of that gateway; default: owner@localhost")
    .option("--password <password>", "the user's password; visible to other users of this machine")
    .option("--token <token>", "token of a sign-in, instead of e-mail and password")
    .option("--host <address>", HOST_TEXT, "127.0.0.1")
    .option("--port <port>", PORT_TEXT, "0")
    .option("--public-url <url>", PUBLIC_URL_TEXT)
    .option("--keep", "keep the instance, and the temporary gateway running")
    .addHelpText(
      "after",
      TRY_HELP +
        helpExamples(
          "waygate try",
          "waygate try --keep",
          "WAYGATE_PASSWORD=... waygate try --url http://127.0.0.1:3000",
        ),
    )
    .action(async (options: TryOptionTexts) => {
      const { runTryCommand } = await import("./try/try-command.ts");
      await runTryCommand(env, options);
    });
}

function addListen(program: Command, env: Env): void {
  const ofGateway = ["key", "url", "instance", "publicUrl", "events", "replay", "since"];
  program
    .command("listen")
    .description("receive, verify and print the events of an instance, and pass them on to a local program")
    .option("--url <url>", URL_TEXT)
    .option("--key <key>", KEY_TEXT)
    .option("--instance <id>", INSTANCE_TEXT)
    .option(
      "--events <names>",
      "events to receive, separated by commas; default: every event of the instance",
    )
    .option("--forward <url>", "pass each event on to this address, with the same bytes and headers")
    .option("--replay <event-id>", "receive a recorded event again; can be repeated", collect)
    .option("--since <time>", "receive the recorded events since a time, or since 30s, 15m, 2h or 1d")
    .addOption(
      new Option(
        "--secret <secret>",
        "only verify and print webhooks with this secret, without a gateway",
      ).conflicts(ofGateway),
    )
    .option("--host <address>", HOST_TEXT, "127.0.0.1")
    .option("--port <port>", PORT_TEXT, "0")
    .option("--public-url <url>", PUBLIC_URL_TEXT)
    .addOption(new Option("--json", "print each event as one line of JSON").conflicts("verbose"))
    .option("--verbose", "print the payload below the line of each event")
    .addHelpText(
      "after",
      LISTEN_HELP +
        helpExamples(
          "WAYGATE_API_KEY=wg_... waygate listen",
          "WAYGATE_API_KEY=wg_... waygate listen --forward http://localhost:8000/hook",
          "WAYGATE_API_KEY=wg_... waygate listen --events message.received --since 2h --json",
          "WEBHOOK_SECRET=whsec_... waygate listen --port 8080",
        ),
    )
    .action(async (options: ListenOptionTexts) => {
      const { runListenCommand } = await import("./listen/listen-command.ts");
      await runListenCommand(env, options);
    });
}

function addSend(program: Command, env: Env): void {
  program
    .command("send")
    .description("send a text or a file with an instance, and print what became of it")
    .argument("<number>", "number with country and area code, or a jid")
    .argument("[text]", "the text, or the caption of the file; - reads it from standard input")
    .option("--url <url>", URL_TEXT)
    .option("--key <key>", KEY_TEXT)
    .option("--instance <id>", INSTANCE_TEXT)
    .option("--file <path>", "send this file: an image, video, audio or document")
    .option("--async", "queue the message, and do not wait for the network")
    .option("--idempotency-key <key>", "a send with a key of the last 24 hours is not sent again")
    .option("--json", "print the response of the gateway as JSON")
    .addHelpText(
      "after",
      SEND_HELP +
        helpExamples(
          "WAYGATE_API_KEY=wg_... waygate send 5511999990004 Hello",
          "df -h | WAYGATE_API_KEY=wg_... waygate send 5511999990004 -",
          "WAYGATE_API_KEY=wg_... waygate send 5511999990004 'Our menu' --file menu.pdf",
        ),
    )
    .action(async (number: string, text: string | undefined, options: SendCommandOptions) => {
      const { runSendCommand } = await import("./send-command.ts");
      await runSendCommand(env, { number, text }, options);
    });
}

function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value];
}
