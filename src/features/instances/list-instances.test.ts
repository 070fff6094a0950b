import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../../test/gateway.ts";

let gateway: TestGateway;
let ids: Record<string, number>;

beforeAll(async () => {
  gateway = await startTestGateway();
  const { id: connected } = await gateway.connectInstance({ name: "Returns 100 %" });
  ids = { "Returns 100 %": connected };
  for (const name of ["alpha", "Béta", "Gamma_1"]) {
    ids[name] = (await gateway.owner.createInstance({ name, network: "sandbox" })).data.id;
  }
});
afterAll(() => gateway.stop());

const names = async (input: Parameters<TestGateway["owner"]["listInstances"]>[0]) =>
  (await gateway.owner.listInstances(input)).data.map(({ name }) => name);

describe("the list of instances", () => {
  test("can be limited to one status", async () => {
    expect(await names({ status: "connected" })).toEqual(["Returns 100 %"]);
    expect(await names({ status: "banned" })).toEqual([]);
  });

  test("is searched by a part of the name, of the phone, or by id, and takes no pattern", async () => {
    const { data } = await gateway.owner.getInstance({ id: ids["Returns 100 %"] ?? 0 });
    expect(await names({ q: "ETA" })).toEqual(["Béta"]);
    expect(await names({ q: "%" })).toEqual(["Returns 100 %"]);
    expect(await names({ q: "a_1" })).toEqual(["Gamma_1"]);
    expect(await names({ q: `+${data.phone?.slice(0, 4)} ${data.phone?.slice(4)}` })).toEqual([
      "Returns 100 %",
    ]);
    expect(await names({ q: String(ids.alpha) })).toContain("alpha");
  });

  test("goes by age or by name, also from page to page", async () => {
    expect(await names({ sort: "oldest" })).toEqual(["Returns 100 %", "alpha", "Béta", "Gamma_1"]);
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof gateway.owner.listInstances>> = await gateway.owner.listInstances(
        { sort: "name", limit: 1, ...(cursor && { cursor }) },
      );
      found.push(...page.data.map(({ name }) => name));
      cursor = page.pagination.next_cursor;
    } while (cursor);
    expect(found).toEqual(["alpha", "Béta", "Gamma_1", "Returns 100 %"]);
  });
});
