import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A proxy that records its connections. */
export interface ProxyServer {
  port: number;
  /** `host:port` of each connection. */
  readonly targets: string[];
  /** `user:password` of each connection; empty without credentials. */
  readonly users: string[];
  close(): Promise<void>;
}

export async function startHttpProxy(): Promise<ProxyServer> {
  const log = newLog();
  const http = createHttpServer((_, response) => response.writeHead(405).end());
  http.on("connect", (request, socket: Socket) => {
    const [, basic = ""] = request.headers["proxy-authorization"]?.split(" ") ?? [];
    log.users.push(Buffer.from(basic, "base64").toString());
    const { hostname, port } = new URL(`http://${request.url}`);
    pass(log, socket, hostname, Number(port), () => socket.write("HTTP/1.1 200 Connected\r\n\r\n"));
  });
  return listen(http, log);
}

/** SOCKS 4 and 5, with names or addresses, with or without a password. */
export async function startSocksProxy(): Promise<ProxyServer> {
  const log = newLog();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (greeting) => {
      if (greeting[0] === 4) return passSocks4(log, socket, greeting);
      const hasPassword = greeting.subarray(2, 2 + (greeting[1] ?? 0)).includes(2);
      socket.write(Buffer.from([5, hasPassword ? 2 : 0]));
      if (hasPassword) askPassword(log, socket);
      else socket.once("data", (request) => passSocks5(log, socket, request));
    });
  });
  return listen(server, log);
}

interface Log {
  targets: string[];
  users: string[];
  sockets: Set<Socket>;
}

function newLog(): Log {
  return { targets: [], users: [], sockets: new Set() };
}

function askPassword(log: Log, socket: Socket): void {
  socket.once("data", (reported) => {
    const nameEnd = 2 + (reported[1] ?? 0);
    const name = reported.subarray(2, nameEnd);
    log.users.push(`${name}:${reported.subarray(nameEnd + 1, nameEnd + 1 + (reported[nameEnd] ?? 0))}`);
    socket.write(Buffer.from([1, 0]));
    socket.once("data", (request) => passSocks5(log, socket, request));
  });
}

function passSocks5(log: Log, socket: Socket, request: Buffer): void {
  const isName = request[3] === 3;
  const end = isName ? 5 + (request[4] ?? 0) : 8;
  const host = isName ? request.subarray(5, end).toString() : request.subarray(4, end).join(".");
  pass(log, socket, host, request.readUInt16BE(end), () =>
    socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])),
  );
}

function passSocks4(log: Log, socket: Socket, request: Buffer): void {
  const address = request.subarray(4, 8);
  const [user = "", name = ""] = request.subarray(8).toString().split("\0");
  log.users.push(user);
  const isName = address[0] === 0 && address[1] === 0 && address[2] === 0;
  pass(log, socket, isName ? name : address.join("."), request.readUInt16BE(2), () =>
    socket.write(Buffer.from([0, 90, 0, 0, 0, 0, 0, 0])),
  );
}

function pass(log: Log, socket: Socket, host: string, port: number, accept: () => void): void {
  log.targets.push(`${host}:${port}`);
  const onward = connect(port, host, () => {
    accept();
    socket.pipe(onward).pipe(socket);
  });
  for (const one of [socket, onward]) {
    log.sockets.add(one);
    one.on("error", () => onward.destroy() && socket.destroy()).on("close", () => log.sockets.delete(one));
  }
}

async function listen(server: Server, { targets, users, sockets }: Log): Promise<ProxyServer> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    port: (server.address() as AddressInfo).port,
    targets,
    users,
    close: async () => {
      const closed = new Promise((done) => server.close(done));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
