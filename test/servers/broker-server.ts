import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { freePortsFor } from "../../src/platform/embedded-postgres/free-ports-for.ts";
import { waitUntil } from "../gateway.ts";
import { findProgram } from "../run/programs.ts";
import { makeScratchDir } from "../run/scratch-dir.ts";

/** Credentials of every broker. */
export const BROKER_USER = { user: "waygate", password: "a-password-of-tests" };

/** A real broker on this machine. Its data and port survive a kill. */
export interface BrokerServer {
  readonly port: number;
  /** Host, port and user of its URL, without the scheme. */
  readonly authority: string;
  /** Kills it as a crash does. */
  kill(): Promise<void>;
  /** Restarts it on its data. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
}

/** Key and certificate of a server that accepts only TLS. */
interface ServerTls {
  key: string;
  cert: string;
}

export async function startNatsServer(tls?: ServerTls): Promise<BrokerServer> {
  const scratch = await makeScratchDir("waygate-nats-");
  const port = await freePort(scratch.path);
  const { user, password } = BROKER_USER;
  const config = join(scratch.path, "nats.conf");
  const files = await writeTls(scratch.path, tls);
  const lines = [
    `listen: "127.0.0.1:${port}"`,
    `jetstream { store_dir: "${scratch.path}" }`,
    `authorization { user: "${user}", password: "${password}" }`,
    ...(files ? [`tls { cert_file: "${files.cert}", key_file: "${files.key}" }`] : []),
  ];
  await writeFile(config, lines.join("\n"));
  return toServer(port, scratch.remove, () => run(program("nats-server"), ["-c", config], {}));
}

/** RabbitMQ with epmd, Erlang's port mapper. */
export async function startRabbitServer(tls?: ServerTls): Promise<BrokerServer> {
  const scratch = await makeScratchDir("waygate-rabbit-");
  const { path } = scratch;
  const [port, names, nodes] = await freePorts(path, 3);
  const files = await writeTls(path, tls);
  const config = join(path, "rabbitmq.conf");
  const lines = [
    `listeners.${files ? "ssl" : "tcp"}.1 = 127.0.0.1:${port}`,
    ...(files
      ? [
          "listeners.tcp = none",
          `ssl_options.certfile = ${files.cert}`,
          `ssl_options.keyfile = ${files.key}`,
          "ssl_options.verify = verify_none",
        ]
      : []),
    `default_user = ${BROKER_USER.user}`,
    `default_pass = ${BROKER_USER.password}`,
  ];
  await writeFile(config, lines.join("\n"));
  for (const file of ["env.conf", "plugins"])
    await writeFile(join(path, file), file === "plugins" ? "[]." : "");
  await mkdir(join(path, "home"));
  const env = {
    HOME: join(path, "home"),
    ERL_EPMD_ADDRESS: "127.0.0.1",
    ERL_EPMD_PORT: String(names),
    RABBITMQ_NODENAME: `waygate-${port}@localhost`,
    RABBITMQ_DIST_PORT: String(nodes),
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_CONF_ENV_FILE: join(path, "env.conf"),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(path, "plugins"),
    RABBITMQ_MNESIA_BASE: join(path, "data"),
    RABBITMQ_LOG_BASE: join(path, "log"),
    RABBITMQ_LOGS: "-",
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-start_epmd false",
  };
  const epmd = run("epmd", [], env);
  const remove = async () => {
    await killGroup(epmd);
    await scratch.remove();
  };
  // Debian's wrapper on PATH changes the user and cannot enter the test folders.
  const debian = "/usr/lib/rabbitmq/bin/rabbitmq-server";
  const command = existsSync(debian) ? debian : program("rabbitmq-server");
  return toServer(port, remove, () => run(command, [], env));
}

async function toServer(
  port: number,
  remove: () => Promise<void>,
  begin: () => RunningProgram,
): Promise<BrokerServer> {
  let running: RunningProgram | undefined;
  const start = async () => {
    const begun = begin();
    running = begun;
    await waitUntil(async () => {
      if (begun.child.exitCode !== null) throw new Error(`The broker ended. It said:\n${begun.output()}`);
      return canConnect(port);
    }, 120_000);
  };
  const kill = async () => {
    if (running) await killGroup(running);
    running = undefined;
  };
  const { user, password } = BROKER_USER;
  const server: BrokerServer = {
    port,
    authority: `${user}:${password}@127.0.0.1:${port}`,
    kill,
    start,
    async stop() {
      await kill();
      await remove();
    },
  };
  await start().catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  return server;
}

interface RunningProgram {
  child: ChildProcess;
  output(): string;
}

/** Runs a program that ends with this process, including its children. */
function run(command: string, args: string[], env: Record<string, string>): RunningProgram {
  const { PATH = "", LANG = "C.UTF-8" } = process.env;
  const child = spawn(command, args, {
    cwd: "/",
    env: { PATH: `${PATH}:/usr/sbin:/usr/bin`, LANG, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const channel of [child.stdout, child.stderr])
    channel.setEncoding("utf8").on("data", (text: string) => {
      output = `${output}${text}`.slice(-20_000);
    });
  const running = { child, output: () => output };
  const endWithUs = () => signalGroup(child);
  process.once("exit", endWithUs);
  child.once("exit", () => process.off("exit", endWithUs));
  return running;
}

async function killGroup({ child }: RunningProgram): Promise<void> {
  const closed = child.exitCode === null && child.signalCode === null ? once(child, "close") : undefined;
  signalGroup(child);
  await closed;
}

function signalGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {}
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}

async function writeTls(folder: string, tls: ServerTls | undefined): Promise<ServerTls | undefined> {
  if (!tls) return undefined;
  const files = { key: join(folder, "server.key"), cert: join(folder, "server.pem") };
  await Promise.all([writeFile(files.key, tls.key), writeFile(files.cert, tls.cert)]);
  return files;
}

async function freePort(name: string): Promise<number> {
  const [port] = await freePorts(name, 1);
  return port;
}

async function freePorts(name: string, count: number): Promise<[number, number, number]> {
  const ports: number[] = [];
  for await (const port of freePortsFor(name)) {
    ports.push(port);
    if (ports.length === count) break;
  }
  return ports as [number, number, number];
}

function program(name: Parameters<typeof findProgram>[0]): string {
  const path = findProgram(name);
  if (path === undefined) throw new Error(`This machine does not have ${name}.`);
  return path;
}
