import { expect, test, vi } from "vitest";
import { createQuestion } from "./reauthentication.ts";

const REFUSED = new Error("refused");

/** A method that is refused until the question is answered. */
function prepare() {
  const question = createQuestion((error) => error === REFUSED);
  let isRefused = true;
  const save = vi.fn(async (name: string) => {
    if (isRefused) throw REFUSED;
    return name;
  });
  const answer = (isDone: boolean) => {
    isRefused = !isDone;
    question.current()?.answer(isDone);
  };
  return { ...question, save, methods: question.asking({ save }), answer };
}

test("requests that are refused at the same time share one question, and are repeated after its answer", async () => {
  const { methods, save, subscribe, current, answer } = prepare();
  const changed = vi.fn();
  subscribe(changed);
  const both = Promise.all([methods.save("a"), methods.save("b")]);
  await vi.waitFor(() => expect(current()).toBeDefined());
  answer(true);
  expect(await both).toEqual(["a", "b"]);
  expect(save).toHaveBeenCalledTimes(4);
  expect(changed).toHaveBeenCalledTimes(2);
});

test("a request stays refused when the answer is no, or when no page shows the question", async () => {
  const { methods, subscribe, current, answer } = prepare();
  await expect(methods.save("a")).rejects.toBe(REFUSED);
  subscribe(() => {});
  const refused = methods.save("a");
  await vi.waitFor(() => expect(current()).toBeDefined());
  answer(false);
  await expect(refused).rejects.toBe(REFUSED);
});

test("a second answer to a question leaves the next question open", async () => {
  const { methods, subscribe, current } = prepare();
  subscribe(() => {});
  const first = methods.save("a");
  await vi.waitFor(() => expect(current()).toBeDefined());
  const answered = current();
  answered?.answer(false);
  await expect(first).rejects.toBe(REFUSED);
  const second = methods.save("b");
  await vi.waitFor(() => expect(current()).toBeDefined());
  answered?.answer(true);
  expect(current()).toBeDefined();
  current()?.answer(false);
  await expect(second).rejects.toBe(REFUSED);
});

test("a question ends with the pages that show it, and its requests stay refused", async () => {
  const { methods, subscribe, current } = prepare();
  const leave = subscribe(() => {});
  const refused = methods.save("a");
  await vi.waitFor(() => expect(current()).toBeDefined());
  leave();
  await expect(refused).rejects.toBe(REFUSED);
  expect(current()).toBeUndefined();
});
