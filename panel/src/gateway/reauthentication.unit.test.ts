import { expect, test, vi } from "vitest";
import { createReauthentication } from "./reauthentication.ts";

const REFUSED = new Error("refused");

/** A method that is refused until the user has signed in again. */
function prepare() {
  const reauthentication = createReauthentication((error) => error === REFUSED);
  let isRefused = true;
  const save = vi.fn(async (name: string) => {
    if (isRefused) throw REFUSED;
    return name;
  });
  const finish = (isDone: boolean) => {
    isRefused = !isDone;
    reauthentication.current()?.finish(isDone);
  };
  return { ...reauthentication, save, methods: reauthentication.retrying({ save }), finish };
}

test("requests that are refused at the same time share one reauthentication, and are repeated after it", async () => {
  const { methods, save, subscribe, current, finish } = prepare();
  const changed = vi.fn();
  subscribe(changed);
  const both = Promise.all([methods.save("a"), methods.save("b")]);
  await vi.waitFor(() => expect(current()).toBeDefined());
  finish(true);
  expect(await both).toEqual(["a", "b"]);
  expect(save).toHaveBeenCalledTimes(4);
  expect(changed).toHaveBeenCalledTimes(2);
});

test("a request stays refused when the user cancels, or when no page shows the reauthentication", async () => {
  const { methods, subscribe, current, finish } = prepare();
  await expect(methods.save("a")).rejects.toBe(REFUSED);
  subscribe(() => {});
  const refused = methods.save("a");
  await vi.waitFor(() => expect(current()).toBeDefined());
  finish(false);
  await expect(refused).rejects.toBe(REFUSED);
});

test("a second end of a reauthentication leaves the next one open", async () => {
  const { methods, subscribe, current } = prepare();
  subscribe(() => {});
  const first = methods.save("a");
  await vi.waitFor(() => expect(current()).toBeDefined());
  const ended = current();
  ended?.finish(false);
  await expect(first).rejects.toBe(REFUSED);
  const second = methods.save("b");
  await vi.waitFor(() => expect(current()).toBeDefined());
  ended?.finish(true);
  expect(current()).toBeDefined();
  current()?.finish(false);
  await expect(second).rejects.toBe(REFUSED);
});

test("a reauthentication ends with the pages that show it, and its requests stay refused", async () => {
  const { methods, subscribe, current } = prepare();
  const leave = subscribe(() => {});
  const refused = methods.save("a");
  await vi.waitFor(() => expect(current()).toBeDefined());
  leave();
  await expect(refused).rejects.toBe(REFUSED);
  expect(current()).toBeUndefined();
});
