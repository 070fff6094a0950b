import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type InstanceGateway, startInstanceGateway } from "../../../../test/stories/instance-gateway.ts";
import type { NetworkEvent } from "../../../network/driver.ts";
import { phoneJid } from "../../../network/jid.ts";
import type { SandboxControl } from "../../../network/sandbox-control.ts";
import { openDatabase } from "../../../platform/db/database.ts";
import { connectInstance } from "./connect-instance.ts";
import { createConnectionRecorder } from "./connection-recorder.ts";

let gateway: InstanceGateway;
let user: Record<string, string>;
let network: SandboxControl;

beforeAll(async () => {
  gateway = await startInstanceGateway();
  const account = await gateway.account();
  user = account.user;
  network = gateway.phonesOf(account.account_id);
});
afterAll(() => gateway.stop());

let phones = 0;
const newPhone = () => `55119${String(10_000_000 + 10 * phones++ + 7)}`;

async function create(body: object = {}): Promise<number> {
  const response = await gateway.call("POST /api/v1/instances", { name: "Sales", ...body }, user);
  return response.body.data.id;
}

// Timeouts for QR codes and connections suit a slow machine.
const post = (id: number, what: string, body: object = {}) =>
  gateway.call(
    `POST /api/v1/instances/${id}/${what}`,
    { ...(/connect$/.test(what) && { wait_seconds: 60 }), ...body },
    user,
  );
const status = async (id: number) =>
  (await gateway.call(`GET /api/v1/instances/${id}/status`, undefined, user)).body.data;
const becomes = (id: number, wanted: string) =>
  expect.poll(async () => (await status(id)).status).toBe(wanted);

async function pair(id: number, phone = newPhone()): Promise<string> {
  const { body } = await post(id, "connect");
  expect(await network.scan(body.data.qr_code, phone)).toMatchObject({ outcome: "scanned" });
  await becomes(id, "connected");
  return phone;
}

const db = () => gateway.database.db;

async function rows(text: string, ...values: unknown[]) {
  return (await gateway.database.pool.query(text, values)).rows;
}

/** Names and data of the instance's events, oldest first. */
async function events(id: number) {
  const found = await rows("select event, body from event where instance_id = $1 order by sequence", id);
  return found.map(({ event, body }) => ({ event, ...JSON.parse(body.toString()).data }));
}
const eventNames = async (id: number) => (await events(id)).map(({ event }) => event);
const instanceRow = async (id: number) => (await rows("select * from instance where id = $1", id))[0];
const generationOf = async (id: number) =>
  (await rows("select generation from credential where instance_id = $1", id))[0]?.generation;
const qrOf = async (id: number) =>
  (await gateway.call(`GET /api/v1/instances/${id}/qr`, undefined, user)).body.data;

function record(id: number, event: NetworkEvent) {
  return createConnectionRecorder({ db: db(), engine: gateway.engine }).record(id, event as never);
}

describe("connecting an instance", () => {
  it("returns the first QR as image and text, and the same QR again while it is valid", async () => {
    const id = await create();
    const { status: code, body } = await post(id, "connect");
    expect(code).toBe(200);
    expect(body).toMatchObject({
      message: "Connection started",
      data: { id, status: "qr_pending", connected: false, pairing_code: null, attempt: 1, max_attempts: 5 },
    });
    expect(body.data.qr).toMatch(/^data:image\/png;base64,iVBOR/);
    const { qr, qr_code, expires_at, pairing_code, attempt, max_attempts } = body.data;
    expect(await qrOf(id)).toEqual({
      id,
      status: "qr_pending",
      qr,
      qr_code,
      pairing_code,
      expires_at,
      attempt,
      max_attempts,
      qr_reason: "new",
      hint: null,
      pairing_error: null,
      pairing_phone: null,
    });
    const again = await post(id, "connect");
    expect(again.body.data.qr_code).toBe(qr_code);
    const image = await gateway.call(`GET /api/v1/instances/${id}/qr?format=png`, undefined, user);
    expect([image.status, image.headers.get("content-type"), image.headers.get("cache-control")]).toEqual([
      200,
      "image/png",
      "no-store",
    ]);
    expect(Buffer.from(image.body).toString("base64")).toBe(qr.slice("data:image/png;base64,".length));
    expect(await events(id)).toEqual([
      {
        event: "instance.qr",
        qr,
        qr_code,
        expires_at,
        attempt: 1,
        max_attempts: 5,
        reason: "new",
        hint: null,
      },
    ]);
  });

  it("succeeds once the phone has scanned, and reports the identity", async () => {
    const id = await create();
    const phone = await pair(id);
    const jid = phoneJid(phone);
    expect(await status(id)).toMatchObject({
      status: "connected",
      connection_status: "connected",
      connected: true,
      logged_in: true,
      loggedIn: true,
      phone,
      phone_connected: phone,
      phoneConnected: phone,
      jid,
      platform: "sandbox",
      reason: null,
    });
    const shown = await gateway.call(`GET /api/v1/instances/${id}`, undefined, user);
    expect(shown.body.data).toMatchObject({
      phone,
      jid,
      connected_at: expect.any(String),
      disconnected_at: null,
    });
    expect(shown.body.data.last_qr_at).toEqual(expect.any(String));
    const event = (await events(id)).at(-1);
    expect(event).toEqual({
      event: "instance.connected",
      status: "connected",
      phone,
      jid,
      reason: null,
      will_retry: false,
    });
    expect(await qrOf(id)).toMatchObject({ status: "connected", qr: null, qr_code: null });
    const log = await rows(
      "select status, reason from connection_log where instance_id = $1 order by created_at",
      id,
    );
    expect(log.map((one) => [one.status, one.reason])).toEqual([
      ["connecting", null],
      ["qr_pending", null],
      ["connected", null],
    ]);
  });

  it("that is already connected returns at once, and changes nothing", async () => {
    const id = await create();
    await pair(id);
    const before = await eventNames(id);
    const { status: code, body } = await post(id, "connect", { wait_seconds: 60 });
    expect([code, body.message, body.data.status, body.data.qr]).toEqual([
      200,
      "Connected",
      "connected",
      null,
    ]);
    expect(await eventNames(id)).toEqual(before);
  });

  it("with a phone returns a pairing code, the same for the same phone", async () => {
    const id = await create();
    const phone = newPhone();
    const { body } = await post(id, "connect", {
      phone: `+${phone.slice(0, 2)} (${phone.slice(2, 4)}) ${phone.slice(4)}`,
    });
    expect(body.data).toMatchObject({ status: "qr_pending", qr: null, qr_code: null });
    expect(body.data.pairing_code).toMatch(/^[A-Z0-9]{4}-?[A-Z0-9]{4}$/);
    const again = await post(id, "connect", { number: phone });
    expect(again.body.data.pairing_code).toBe(body.data.pairing_code);
    await network.scan(body.data.pairing_code);
    await becomes(id, "connected");
    expect((await status(id)).phone).toBe(phone);
  });

  it("to an unreachable network fails with a clear error, and can be repeated", async () => {
    const id = await create({ network: "whatsapp" });
    for (let i = 0; i < 2; i++) {
      const { status: code, body } = await post(id, "connect", { wait_seconds: 40 });
      const reason = expect.stringContaining("connection_lost: ");
      expect([code, body.code, body.details]).toEqual([
        502,
        "CONNECT_FAILED",
        {
          status: "disconnected",
          reason,
          pairing_error: expect.objectContaining({ code: "connection_failed" }),
        },
      ]);
    }
    expect(await status(id)).toMatchObject({ status: "disconnected", connected: false });
  });

  it("many times at once opens one session", async () => {
    const id = await create();
    const impatient = openDatabase(gateway.database.url, { lockTimeoutMs: 20 });
    const findCountry = async () => undefined;
    const deps = { db: impatient.db, engine: gateway.engine, findCountry };
    const options = { wait_seconds: 60, signal: new AbortController().signal };
    const all = await db()
      .transaction()
      .execute(async (trx) => {
        await trx.selectFrom("instance").select("id").where("id", "=", id).forUpdate().execute();
        const connecting = Array.from({ length: 10 }, () => connectInstance(deps, id, options));
        // The first transaction whose lock timeout expired.
        await once(impatient.pool, "release");
        // The other nine wait in memory.
        expect([impatient.pool.totalCount, impatient.pool.waitingCount]).toEqual([1, 0]);
        return { rows: Promise.all(connecting) };
      });
    const rows = await all.rows;
    expect(new Set(rows.map(({ qr }) => qr))).toEqual(new Set([expect.any(String)]));
    await impatient.close();
  });
});

describe("a connection", () => {
  it("reconnects automatically after a loss, and both changes are reported", async () => {
    const id = await create();
    const phone = await pair(id);
    await network.drop(phone);
    await expect
      .poll(() => eventNames(id))
      .toEqual(["instance.qr", "instance.connected", "instance.disconnected", "instance.connected"]);
    expect((await events(id))[2]).toEqual({
      event: "instance.disconnected",
      status: "reconnecting",
      phone,
      jid: phoneJid(phone),
      reason: "connection_lost",
      will_retry: true,
    });
    await becomes(id, "connected");
  });

  it("becomes logged out when the phone unlinks it, and the next connect shows a new QR", async () => {
    const id = await create();
    const phone = await pair(id);
    await network.unlink(phone);
    await becomes(id, "logged_out");
    expect(await status(id)).toMatchObject({ logged_in: false, phone: null, jid: null, reason: "unlinked" });
    expect((await events(id)).at(-1)).toMatchObject({
      event: "instance.disconnected",
      status: "logged_out",
      phone,
      will_retry: false,
    });
    expect((await post(id, "connect")).body.data).toMatchObject({
      status: "qr_pending",
      qr_code: expect.any(String),
    });
  });

  it("stays banned after the network's ban until the customer connects again", async () => {
    const id = await create();
    const phone = await pair(id);
    await network.ban(phone);
    await becomes(id, "banned");
    expect(await status(id)).toMatchObject({ connected: false, phone, reason: "banned" });
    expect((await instanceRow(id)).wanted).toBe("stopped");
  });

  it("that was never paired ends with the last QR", async () => {
    const id = await create();
    await post(id, "connect");
    await record(id, { type: "qr_expired" });
    expect(await status(id)).toMatchObject({ status: "qr_expired", reason: "qr_expired" });
    expect(await qrOf(id)).toMatchObject({ status: "qr_expired", qr: null, qr_code: null, expires_at: null });
    expect((await events(id)).at(-1)).toMatchObject({ event: "instance.qr_expired", status: "qr_expired" });
    expect((await post(id, "connect")).body.data).toMatchObject({ status: "qr_pending", attempt: 1 });
  });

  it("reports opt-in events under their own names to a webhook that subscribes to them", async () => {
    const id = await create({
      webhook: { url: "https://hook.example", events: ["instance.reconnecting", "instance.logged_out"] },
    });
    const phone = await pair(id);
    await record(id, { type: "disconnected", reason: "connection_lost", will_retry: true });
    expect((await eventNames(id)).slice(-2)).toEqual(["instance.disconnected", "instance.reconnecting"]);
    await record(id, { type: "logged_out", reason: "unlinked" });
    expect((await eventNames(id)).slice(-2)).toEqual(["instance.disconnected", "instance.logged_out"]);
    await network.unlink(phone);
  });

  it("is recorded only by the owner of the lane", async () => {
    const id = await create();
    await pair(id);
    const before = await status(id);
    const lane = gateway.engine.findOwnedLane("session", String(id));
    if (!lane) throw new Error("the lane is not here");
    const lost: number[] = [];
    const engine = {
      ...bare(),
      findOwnedLane: () => ({ ...lane, epoch: lane.epoch - 1 }),
      markLaneLost: (one: number) => lost.push(one),
    };
    const stale = createConnectionRecorder({ db: db(), engine });
    await expect(stale.record(id, { type: "banned", reason: "banned" })).rejects.toThrow(/does not own/);
    const nowhere = createConnectionRecorder({
      db: db(),
      engine: { ...bare(), findOwnedLane: () => undefined, markLaneLost: () => {} },
    });
    await expect(nowhere.record(id, { type: "banned", reason: "banned" })).rejects.toThrow(/does not own/);
    expect(lost).toEqual([lane.id]);
    expect(await status(id)).toEqual(before);
  });

  const bare = () => ({ node: gateway.engine.node, wake: () => {}, publish: () => {} });

  it("keeps the name that the phone reports first, and forgets the name of another phone", async () => {
    const id = await create();
    const connect = (phone: string) => {
      const me = { phone, jid: phoneJid(phone), lid: null, push_name: null };
      return record(id, { type: "connected", me, platform: "android" });
    };
    const name = async () => (await status(id)).profile_name;
    const phone = await pair(id);
    await rows("update instance set jid = null, profile_name = 'Ana' where id = $1", id);
    await connect(phone);
    expect(await name()).toBe("Ana");
    await connect(phone);
    expect(await name()).toBe("Ana");
    await connect(newPhone());
    expect(await name()).toBeNull();
  });

  it("extends the deadline of waiting messages by the time of its loss", async () => {
    const id = await create();
    await pair(id);
    await rows(
      `with chat as (
         insert into conversation (account_id, instance_id, jid, type)
         select account_id, id, '5511999990009@s.whatsapp.net', 'contact' from instance where id = $1 returning *
       )
       insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, mode, jid,
         type, content, status, submitted_at, created_at, deadline)
       select account_id, instance_id, chat.id, name, 'outbound', true, 'api', mode, jid, 'text', '{}', status,
         case when name = 'submitted' then now() end, now() - age * interval '1 minute', now() + due * interval '1 minute'
       from chat, (values ('before', 'async', 'pending', 20, 2), ('during', 'async', 'pending', 4, 11),
         ('sync', 'sync', 'pending', 4, 11), ('submitted', 'async', 'pending', 4, 11), ('sent', 'async', 'sent', 4, 11)
       ) as m (name, mode, status, age, due)`,
      id,
    );
    await rows("update instance set connected_at = now() - interval '10 minutes' where id = $1", id);
    await record(id, { type: "disconnected", reason: "connection_lost", will_retry: true });
    const left = await rows(
      `select message_id, round(extract(epoch from deadline - now()) / 60)::int as minutes from message
       where instance_id = $1`,
      id,
    );
    expect(Object.fromEntries(left.map((one) => [one.message_id, one.minutes]))).toEqual({
      before: 12,
      during: 15,
      sync: 11,
      submitted: 11,
      sent: 11,
    });
  });
});

describe("reconnecting an instance", () => {
  it("closes and opens the connection with the same pairing", async () => {
    const id = await create();
    const phone = await pair(id);
    const { status: code, body } = await post(id, "reconnect");
    expect(code).toBe(200);
    expect(body).toMatchObject({ message: "Reconnecting", data: { status: "connected", phone } });
    expect(await eventNames(id)).toEqual([
      "instance.qr",
      "instance.connected",
      "instance.disconnected",
      "instance.connected",
    ]);
    expect((await events(id))[2]).toMatchObject({
      status: "reconnecting",
      reason: "reconnect",
      will_retry: true,
    });
    expect(await generationOf(id)).toBe(1);
  });
});

it.each(["reconnect", "logout"])("a %s is rejected for an instance that was never paired", async (what) => {
  const id = await create();
  const refused = await post(id, what);
  expect([refused.status, refused.body.code, refused.body.details]).toEqual([
    409,
    "INSTANCE_NOT_CONNECTED",
    { status: "created" },
  ]);
  expect((await status(id)).status).toBe("created");
});

describe("logging out an instance", () => {
  it("unlinks the phone, clears the identity, and reports the reason", async () => {
    const id = await create();
    const phone = await pair(id);
    const { status: code, body } = await post(id, "logout");
    expect(code).toBe(200);
    expect(body).toMatchObject({
      message: "Logged out",
      data: {
        status: "disconnected",
        reason: "logout",
        connected: false,
        logged_in: false,
        phone: null,
        jid: null,
      },
    });
    expect((await events(id)).at(-1)).toEqual({
      event: "instance.disconnected",
      status: "disconnected",
      phone,
      jid: phoneJid(phone),
      reason: "logout",
      will_retry: false,
    });
    expect(await rows("select secret from credential where instance_id = $1", id)).toEqual([
      { secret: null },
    ]);
    expect(await network.unlink(phone)).toBe(false);
  });

  it("returns at once the second time, and the instance can be paired again", async () => {
    const id = await create();
    await pair(id);
    await post(id, "logout");
    const before = await eventNames(id);
    expect(await post(id, "logout")).toMatchObject({
      status: 200,
      body: { data: { status: "disconnected" } },
    });
    expect(await eventNames(id)).toEqual(before);
    await pair(id);
    expect(await generationOf(id)).toBeGreaterThan(1);
  });

  it("ends a running pairing", async () => {
    const id = await create();
    const { body } = await post(id, "connect");
    expect((await post(id, "logout")).body.data).toMatchObject({ status: "disconnected", reason: "logout" });
    expect(await network.scan(body.data.qr_code)).toEqual({ outcome: "not_found" });
    expect((await qrOf(id)).qr).toBeNull();
  });

  it("that the network has already logged out ends as a logout, without a second event", async () => {
    const id = await create();
    await network.unlink(await pair(id));
    await becomes(id, "logged_out");
    const before = await eventNames(id);
    expect((await post(id, "logout")).body.data).toMatchObject({ status: "disconnected", reason: "logout" });
    expect(await eventNames(id)).toEqual(before);
  });

  it("rejects a connect and a reconnect while the logout is pending", async () => {
    const id = await create();
    await pair(id);
    const { lane } = await instanceRow(id);
    await rows(
      `insert into job (lane, prio, pos, grp, run_at, ref)
       values ($1, 0, -1, 'control', now() + interval '1 minute', '{"do": "logout"}')`,
      lane,
    );
    for (const what of ["connect", "reconnect"]) {
      expect(await post(id, what)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    }
    await rows("delete from job where lane = $1", lane);
    gateway.engine.wake([lane], { changed: true });
  });
});

describe("removing an instance", () => {
  it("unlinks it and deletes all of its data", async () => {
    const id = await create({ webhook_url: "https://hook.example/in" });
    const phone = await pair(id);
    const { lane, global_lane } = await instanceRow(id);
    await rows(
      `with chat as (
         insert into conversation (account_id, instance_id, jid, type)
         select account_id, id, 'x@s.whatsapp.net', 'contact' from instance where id = $1 returning *
       )
       insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, jid, type,
         content, status)
       select account_id, instance_id, id, 'M' || n, 'inbound', false, 'contact', jid, 'text', '{"text": "secret"}', 'received'
       from chat, generate_series(1, 30) n`,
      id,
    );
    const open = await rows("select id from delivery where instance_id = $1", id);
    expect(open.length).toBeGreaterThan(0);

    expect(await gateway.call(`DELETE /api/v1/instances/${id}`, undefined, user)).toMatchObject({
      status: 200,
      body: { success: true, message: "Instance removed", data: { id } },
    });
    expect(await instanceRow(id)).toBeUndefined();
    const tables = "api_key credential webhook message conversation event event_counter connection_log";
    for (const table of tables.split(" "))
      expect([table, await rows(`select from ${table} where instance_id = $1`, id)]).toEqual([table, []]);
    const deliveries = await rows("select status, error from delivery where instance_id = $1", id);
    expect(deliveries).toEqual(open.map(() => ({ status: "discarded", error: "The instance was removed." })));
    expect(
      await rows(
        `select id from lane where id in ($1, $2) or kind = 'webhook' and key not like 'global:%'
           and not exists (select from webhook where webhook.lane = lane.id)`,
        lane,
        global_lane,
      ),
    ).toEqual([]);
    expect(await rows("select id from job where lane in ($1, $2)", lane, global_lane)).toEqual([]);
    expect(await network.unlink(phone)).toBe(false);
    expect(gateway.engine.findOwnedLane("session", String(id))).toBeUndefined();
    const gone = await gateway.call(`GET /api/v1/instances/${id}`, undefined, user);
    expect([gone.status, gone.body.code]).toEqual([404, "NOT_FOUND"]);
  });

  it("that was interrupted is completed by the next owner of the lane", async () => {
    const id = await create({ webhook_url: "https://hook.example/in" });
    await pair(id);
    // The state after a crash following the first step: hidden, without webhooks, with the job.
    const [{ lane }] = await rows(
      "update instance set wanted = 'stopped', removed_at = now() where id = $1 returning lane",
      id,
    );
    await rows("delete from webhook where instance_id = $1", id);
    expect((await gateway.call(`GET /api/v1/instances/${id}`, undefined, user)).status).toBe(404);
    const job =
      "insert into job (lane, prio, pos, grp, ref) values ($1, 0, -1, 'control', '{\"do\": \"delete\"}')";
    await rows(job, lane);
    gateway.engine.wake([lane]);
    await expect.poll(() => instanceRow(id)).toBeUndefined();
  });
});

describe("an instance after a restart of the gateway", () => {
  it("reconnects with its pairing, or shows a new QR or code if it was pairing", async () => {
    const [paired, pairing, byPhone, out, fresh] = await Promise.all([
      create(),
      create(),
      create(),
      create(),
      create(),
    ]);
    const phone = await pair(paired);
    const { qr_code } = (await post(pairing, "connect")).body.data;
    const { pairing_code } = (await post(byPhone, "connect", { phone: newPhone() })).body.data;
    await pair(out);
    await post(out, "logout");

    await gateway.restart();
    const lastEvents = async () => (await eventNames(paired)).slice(-2);
    await expect.poll(lastEvents).toEqual(["instance.disconnected", "instance.connected"]);
    expect(await status(paired)).toMatchObject({ status: "connected", phone });
    await expect
      .poll(async () => (await qrOf(pairing)).qr_code)
      .toSatisfy((now: unknown) => typeof now === "string" && now !== qr_code);
    await expect
      .poll(async () => (await qrOf(byPhone)).pairing_code)
      .toSatisfy((now: unknown) => typeof now === "string" && now !== pairing_code);
    expect(await qrOf(byPhone)).toMatchObject({ qr_code: null });
    expect((await status(out)).status).toBe("disconnected");
    expect((await status(fresh)).status).toBe("created");
  });

  it("that was stopped stays stopped with its pairing, until it is connected again", async () => {
    const [replaced, banned, other] = await Promise.all([create(), create(), create()]);
    const phone = await pair(replaced);
    const bannedPhone = await pair(banned);
    await pair(other);
    await record(replaced, { type: "disconnected", reason: "replaced", will_retry: false });
    await network.ban(bannedPhone);
    await becomes(banned, "banned");
    const readNames = async () => [await eventNames(replaced), await eventNames(banned)];
    const before = await readNames();
    await gateway.restart();
    await becomes(other, "connected");
    expect(await status(replaced)).toMatchObject({ connected: false, phone, reason: "replaced" });
    expect((await status(banned)).status).toBe("banned");
    expect(await readNames()).toEqual(before);
    await post(replaced, "connect");
    await becomes(replaced, "connected");
  });
});
