import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../test/conformance/listener.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { startSandboxNetwork, type TestSandboxNetwork } from "../../../test/stories/sandbox-network.ts";
import type { Content, Jid, MessageId, SendResult } from "../driver.ts";
import { newMessageId, phoneJid } from "../jid.ts";
import { deleteOldData } from "./connection/sandbox-runtime.ts";
import { tokenOf } from "./pairing/pair-device.ts";
import { lidOf } from "./sandbox-numbers.ts";

const text = (words: string): Content => ({ kind: "text", text: words });
const to = (last: string): Jid => phoneJid(`551198888${last}`);

let network: TestSandboxNetwork;

let store: TestDatabase;

beforeAll(async () => {
  store = await createTestDatabase();
});

afterAll(() => store.drop());

beforeEach(async () => {
  network = await startSandboxNetwork({ store, slowAckMs: 150 });
});

afterEach(() => network.stop());

interface Send {
  id: MessageId;
  result: Promise<SendResult>;
}

function send(listener: RecordingSession, chat: Jid, words = "hello"): Send {
  const id = newMessageId();
  return { id, result: listener.session.send(chat, text(words), { id }) };
}

function statusesOf(listener: RecordingSession, id: MessageId): string[] {
  return listener
    .all("message_status")
    .filter((event) => event.ids.includes(id))
    .map((event) => event.status);
}

async function ledger(what: string): Promise<Record<string, unknown>[]> {
  return (await network.pool.query(`select ${what}`)).rows;
}

describe("the token of a device", () => {
  it("is not stored in any table of the network", async () => {
    const me = await network.pair();
    const token = tokenOf((await me.credentials.load()) ?? new Uint8Array());
    const { rows } = await network.pool.query<{ row: string }>(
      "select to_jsonb(d)::text as row from sandbox.device d union all select to_jsonb(p)::text from sandbox.pairing p",
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(token).toHaveLength(43);
    expect(rows.map(({ row }) => row).join()).not.toContain(token);
  });
});

describe("the sandbox network", () => {
  it("delivers a message to a number without a fixed behaviour, and the message is read", async () => {
    const me = await network.pair();
    const { id, result } = send(me, to("1234"));
    expect(await result).toMatchObject({ outcome: "accepted" });
    await eventually(() => expect(statusesOf(me, id)).toEqual(["delivered", "read"]));
  });

  it.each([
    ["0000", "RECIPIENT_NOT_FOUND"],
    ["0001", "SEND_FAILED"],
  ])("refuses a message to %s permanently", async (last, code) => {
    const me = await network.pair();
    expect(await send(me, to(last)).result).toMatchObject({ outcome: "refused", code, retryable: false });
  });

  it("dates a message by when it took it, so that a reply never stands before it, however late its response is", async () => {
    const me = await network.pair();
    const { id, result } = send(me, to("0005"));
    const response = await result;
    if (response.outcome !== "accepted") throw new Error(response.outcome);
    const [recorded] = await ledger(
      `extract(epoch from at)::float8 * 1000 as ms from sandbox.ledger where message_id = '${id}'`,
    );
    expect(response.at.getTime()).toBeLessThanOrEqual(Number(recorded?.ms));
  });

  it("never acknowledges a message to 0002; its outcome is unknown after a disconnect", async () => {
    const me = await network.pair();
    const silent = send(me, to("0002"));
    let reported: SendResult | undefined;
    void silent.result.then((result) => {
      reported = result;
    });
    const later = send(me, to("1234"));
    await eventually(() => expect(statusesOf(me, later.id)).toContain("read"));
    expect([reported, statusesOf(me, silent.id)]).toEqual([undefined, []]);
    await network.control.drop((await me.waitForEvent("connected")).me.phone ?? "");
    expect((await silent.result).outcome).toBe("unknown");
  });

  it("delivers a message to 0003, which is never read", async () => {
    const me = await network.pair();
    const unread = send(me, to("0003"));
    const later = send(me, to("1234"));
    await eventually(() => expect(statusesOf(me, later.id)).toContain("read"));
    expect(statusesOf(me, unread.id)).toEqual(["delivered"]);
  });

  it("replies from 0004 with the text that it received", async () => {
    const me = await network.pair();
    await send(me, to("0004"), "ping").result;
    const { message } = await me.waitForEvent("message");
    expect(message).toMatchObject({ chat: to("0004"), from_me: false, content: text("echo: ping") });
  });

  it("delays the acknowledgement of a message to 0005", async () => {
    const me = await network.pair();
    let isDelayOver = false;
    setTimeout(() => (isDelayOver = true), 140);
    const { id, result } = send(me, to("0005"));
    expect((await result).outcome).toBe("accepted");
    expect(isDelayOver).toBe(true);
    await eventually(() => expect(statusesOf(me, id)).toEqual(["delivered", "read"]));
  });

  it("accepts the LID of a contact too", async () => {
    const me = await network.pair();
    const other = await network.pair("5511977770002");
    const { result } = send(me, lidOf("5511977770002"), "by LID");
    expect((await result).outcome).toBe("accepted");
    expect((await other.waitForEvent("message")).message.content).toEqual(text("by LID"));
    expect(await send(me, "12345@lid" as Jid).result).toMatchObject({ code: "RECIPIENT_NOT_FOUND" });
  });

  it("assigns a number of its own to each phone that names none", async () => {
    const listeners = [await network.pair(), await network.pair(), await network.pair()];
    const numbers = await Promise.all(
      listeners.map(async (one) => (await one.waitForEvent("connected")).me.phone),
    );
    expect(new Set(numbers).size).toBe(3);
    for (const number of numbers) expect(number).toMatch(/^55119\d{4}[1-9]\d{3}$/);
  });
});

describe("the ledger of the sandbox", () => {
  it("records every arrival, also of a repeated id, but delivers it once", async () => {
    const me = await network.pair();
    const other = await network.pair("5511977771000");
    const id = newMessageId();
    const chat = phoneJid("5511977771000");
    await Promise.all([1, 2, 3].map(() => me.session.send(chat, text("thrice"), { id })));
    const arrivals = await ledger(
      "device, session, chat, kind, content, at, outcome from sandbox.ledger where action = 'send'",
    );
    expect(arrivals).toHaveLength(3);
    expect(arrivals[0]).toMatchObject({ chat, kind: "text", content: text("thrice"), outcome: "accepted" });
    await send(me, chat, "next").result;
    await eventually(() => expect(other.all("message")).toHaveLength(2));
    expect(other.countEvents(id)).toBe(1);
  });

  it("records logins, closed connections and the number of open sockets", async () => {
    const me = await network.pair();
    await me.session.disconnect();
    me.session.connect();
    await me.waitForEvent("connected", 2);
    const second = network.startProcess().open(me.credentials);
    second.session.connect();
    await me.waitForEvent("disconnected", 2);
    await second.session.logout();
    const rows = await ledger("action, open from sandbox.ledger order by id");
    expect(rows.map((row) => [row.action, row.open])).toEqual([
      ["login", 1],
      ["close", 0],
      ["login", 1],
      ["replaced", 0],
      ["login", 2],
      ["close", 0],
      ["logout", 0],
    ]);
  });

  it("detects that the sockets of a killed process are closed", async () => {
    const process = network.startProcess();
    const me = await process.pair();
    await process.kill();
    const again = network.open(me.credentials);
    again.session.connect();
    await again.waitForEvent("connected");
    const rows = await ledger("action, open from sandbox.ledger order by id");
    expect(rows.map((row) => [row.action, row.open])).toEqual([
      ["login", 1],
      ["gone", 0],
      ["login", 1],
    ]);
  });

  it("accepts nothing from a session that another process has replaced", async () => {
    const me = await network.pair("5511977773000");
    const thief = network.startProcess().open(me.credentials);
    thief.session.connect();
    await thief.waitForEvent("connected");
    const { id, result } = send(me, to("1234"));
    // The other session's event may arrive after the request was sent, whose response is then unknown.
    expect(["not_sent", "unknown"]).toContain((await result).outcome);
    const [row] = await ledger(`outcome from sandbox.ledger where message_id = '${id}'`);
    // Its session may end before it sends anything.
    expect([undefined, "closed"]).toContain(row?.outcome);
    expect(await ledger("from sandbox.message")).toEqual([]);
  });
});

describe("several processes on the sandbox network", () => {
  it("report to a session in another process what happened", async () => {
    const me = await network.pair("5511977773000");
    const { control } = network.startProcess();
    const id = await control.receive("5511977773000", { from: "5511966661111", content: text("from afar") });
    expect((await me.waitForEvent("message")).message.id).toBe(id);
    await control.drop("5511977773000");
    await me.waitForEvent("disconnected");
  });

  it("deliver again what a killed process had not stored", async () => {
    const process = network.startProcess();
    const me = await process.pair("5511977773000");
    me.gate = () => new Promise(() => undefined);
    const id = await network.control.receive("5511977773000", { from: "5511966661111", content: text("hi") });
    await process.kill();
    const again = network.open(me.credentials);
    again.session.connect();
    expect((await again.waitForEvent("message")).message).toMatchObject({ id, offline: true });
  });

  it("scan no QR code of a process that is gone", async () => {
    const process = network.startProcess();
    const waiting = process.open();
    waiting.session.connect();
    const { qr } = await waiting.waitForEvent("qr");
    await process.kill();
    expect(await network.control.scan(qr)).toEqual({ outcome: "not_found" });
  });

  it("continue when the database has cut every connection", async () => {
    const me = await network.pair("5511977773000");
    // The connection that ends the others goes last, and its error is caught.
    const all = "from pg_stat_activity where datname = current_database()";
    const others = `select pg_terminate_backend(pid, 60000) ${all} and pid <> pg_backend_pid()`;
    await network.pool.query(others);
    await network.pool.query("select pg_terminate_backend(pg_backend_pid())").catch(() => undefined);
    await eventually(async () => expect((await send(me, to("1234")).result).outcome).toBe("accepted"));
    const id = await network.control.receive("5511977773000", { from: "5511966661111", content: text("hi") });
    expect((await me.waitForEvent("message")).message.id).toBe(id);
  });
});

describe("the inbox of a sandbox device", () => {
  it("delivers a backlog of several chats, each in order", async () => {
    const me = await network.pair("5511977773000");
    await me.session.disconnect();
    const writers = ["5511966661111", "5511966662222", "5511966663333"];
    for (let i = 0; i < 60; i++) {
      for (const from of writers) {
        await network.control.receive("5511977773000", { from, content: text(`${i}`) });
      }
    }
    me.session.connect();
    await eventually(() => expect(me.all("message")).toHaveLength(180));
    for (const from of writers) {
      const words = me
        .all("message")
        .filter(({ message }) => message.chat === phoneJid(from))
        .map(({ message }) => message.content.kind === "text" && message.content.text);
      expect(words).toEqual(Array.from({ length: 60 }, (_, i) => `${i}`));
    }
    await eventually(async () => expect(await ledger("from sandbox.inbox")).toEqual([]));
  });

  it("delivers the other chats while a message of one chat cannot be stored", async () => {
    const me = await network.pair("5511977773000");
    me.gate = async (event) => {
      if (event.type === "message" && event.message.chat === phoneJid("5511966661111")) throw new Error("no");
    };
    await network.control.receive("5511977773000", { from: "5511966661111", content: text("stuck") });
    const id = await network.control.receive("5511977773000", {
      from: "5511966662222",
      content: text("free"),
    });
    expect((await me.waitForEvent("message")).message.id).toBe(id);
    me.gate = async () => undefined;
    await me.waitForEvent("message", 2);
  });

  it("reports that the session is connected until a listener receives it", async () => {
    const me = network.open();
    let failures = 0;
    me.gate = async (event) => {
      if (event.type === "connected" && failures++ === 0) throw new Error("the database is unavailable");
    };
    await me.pair(network.control);
    expect(failures).toBe(2);
  });

  it("reports what one device of a phone sent to the phone's other devices", async () => {
    const one = await network.pair("5511977773000");
    const other = await network.pair("5511977773000");
    const { id } = send(one, to("1234"), "from the first");
    const message = await other.message(id);
    expect(message).toMatchObject({ from_me: true, chat: to("1234"), sender: { phone: "5511977773000" } });
  });

  it("rejects only the message that it cannot read", async () => {
    const me = await network.pair();
    const results = await Promise.all(
      ["fine", "a\u0000b", "fine too"].map((words) => send(me, to("1234"), words).result),
    );
    expect(results.map((one) => one.outcome)).toEqual(["accepted", "refused", "accepted"]);
  });
});

describe("expired data of the sandbox network", () => {
  it("is deleted, and a device that stays offline is unlinked, while an online one is not", async () => {
    const online = await network.pair("5511977773000");
    const away = await network.pair("5511977774000");
    await send(online, to("1234")).result;
    await away.session.disconnect();
    await network.control.receive("5511977774000", { from: "5511966661111", content: text("never read") });
    for (const column of ["ledger set at", "message set at", "device set logged_in_at"]) {
      await network.pool.query(`update sandbox.${column} = now() - interval '31 days'`);
    }
    await network.pool.query("update sandbox.device set created_at = now() - interval '31 days'");
    await deleteOldData(network.pool);
    expect(await ledger("from sandbox.ledger union all select from sandbox.message")).toEqual([]);
    expect(await ledger("from sandbox.inbox where chat = '5511966661111@s.whatsapp.net'")).toEqual([]);
    expect(await ledger("phone from sandbox.device where unlinked_at is null")).toEqual([
      { phone: "5511977773000" },
    ]);
    away.session.connect();
    await away.waitForEvent("logged_out");
  });
});
