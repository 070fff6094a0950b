import { en, parseDate } from "chrono-node";
import { describe, expect, test } from "vitest";
import { toBotInput } from "./to-bot-input.ts";

/** The text that a bot receives at an input of this type. */
function told(type: string, text: string, options: object): string {
  const answer = toBotInput({ id: "i", type, options: { ...options } }, { kind: "text", text });
  if (answer.do !== "send" || answer.message?.type !== "text") throw new Error("nothing is sent");
  return answer.message.text;
}

const minuteOf = (date: Date | undefined) =>
  date &&
  `${[date.getFullYear(), date.getMonth() + 1, date.getDate()].join("-")} ${date.toTimeString().slice(0, 5)}`;

/** Parses a date as Typebot 3.18 does: the British parser is used if the day comes first. */
function readByBot(text: string, format = "dd/MM/yyyy"): (string | undefined)[] {
  const [found] = (format.startsWith("dd") ? en.GB : en).parse(text);
  return [minuteOf(found?.start.date()), ...(found?.end ? [minuteOf(found.end.date())] : [])];
}

describe("a date", () => {
  test.each([
    ["03/04/2026", undefined, "2026-4-3 12:00"],
    ["03/04/2026", "MM/dd/yyyy", "2026-3-4 12:00"],
    ["1.2.26", "dd/MM/yyyy", "2026-2-1 12:00"],
    ["dia 1º de fevereiro de 2027", undefined, "2027-2-1 12:00"],
    ["10 de Março de 2027", undefined, "2027-3-10 12:00"],
    ["5 de diciembre del 2027", undefined, "2027-12-5 12:00"],
    ["01/02/2027 15h30", undefined, "2027-2-1 15:30"],
    ["01/02/2027 às 15h", undefined, "2027-2-1 15:00"],
    ["01/02/2027, às 15:30", undefined, "2027-2-1 15:30"],
    ["10 de dezembro de 2027 às 3 da tarde", undefined, "2027-12-10 15:00"],
    ["el 10 de diciembre de 2027 a las 8:30 de la noche", undefined, "2027-12-10 20:30"],
    ["01/02/2027 ao meio-dia", undefined, "2027-2-1 12:00"],
    ["15/02/2027", "MM/dd/yyyy", "2027-2-15 12:00"],
  ])("written as %j is read with the format %j as %s", (reply, format, date) => {
    expect(readByBot(told("date input", reply, { format, hasTime: true }), format)[0]).toBe(date);
  });

  test.each(["01/02/2027 a 05/02/2027", "de 01/02/2027 até 05/02/2027", "01/02/27-05/02/27"])(
    "range written as %j is read with both its start and its end",
    (reply) => {
      const range = told("date input", reply, { isRange: true });
      expect(readByBot(range)).toEqual(["2027-2-1 12:00", "2027-2-5 12:00"]);
    },
  );

  test.each([
    ["entre 1 de fevereiro de 2027 e 5 de fevereiro de 2027", ["2027-2-1 12:00", "2027-2-5 12:00"]],
    ["de 1 a 5 de fevereiro de 2027", ["2027-2-1 12:00", "2027-2-5 12:00"]],
    ["del 1 al 5 de febrero de 2027", ["2027-2-1 12:00", "2027-2-5 12:00"]],
    ["desde el 01/02/2027 hasta el 05/02/2027", ["2027-2-1 12:00", "2027-2-5 12:00"]],
    ["01/02/2027 – 05/02/2027", ["2027-2-1 12:00", "2027-2-5 12:00"]],
    ["01/02/2027 to 05/02/2027", ["2027-2-1 12:00", "2027-2-5 12:00"]],
    ["01/02/2027 15h30 até 05/02/2027 às 16h", ["2027-2-1 15:30", "2027-2-5 16:00"]],
  ])("range written as %j is read as %j", (reply, ends) => {
    expect(readByBot(told("date input", reply, { isRange: true }))).toEqual(ends);
  });

  test.each([
    ["hoje", "today"],
    ["Amanhã", "tomorrow"],
    ["mañana a las 10 de la mañana", "tomorrow 10:00"],
    ["depois de amanhã", "in 2 days"],
    ["32/13/2026", "32/13/2026"],
    ["Next Friday", "Next Friday"],
  ])("entered as %j is sent as %j", (reply, date) => expect(told("date input", reply, {})).toBe(date));
});

describe("a time", () => {
  test.each([
    ["15h30", "15:30"],
    ["15h", "15:00"],
    ["15 h 30 min", "15:30"],
    ["às 15h30", "15:30"],
    ["as 15", "15:00"],
    ["a las 15:30", "15:30"],
    ["15:30hs", "15:30"],
    ["15 horas", "15:00"],
    ["15.30", "15:30"],
    ["8", "08:00"],
    ["3 da tarde", "15:00"],
    ["8 e meia da noite", "20:30"],
    ["12 da noite", "00:00"],
    ["10 de la mañana", "10:00"],
    ["meio-dia", "12:00"],
    ["meio dia e meia", "12:30"],
    ["mediodía", "12:00"],
    ["meia-noite", "00:00"],
    ["a medianoche", "00:00"],
    ["24h", "00:00"],
    ["3pm", "15:00"],
    ["3:30 pm", "15:30"],
    ["pode ser às 15h?", "15:00"],
    ["tanto faz", undefined],
    ["15h75", undefined],
  ])("written as %j is read as %s", (reply, time) => {
    expect(
      parseDate(told("time input", reply, {}))
        ?.toTimeString()
        .slice(0, 5),
    ).toBe(time);
  });

  test("that is impossible is passed to the bot unchanged", () => {
    const long = "às 15h ".repeat(100);
    for (const reply of ["Tanto faz", "25h61", long]) expect(told("time input", reply, {})).toBe(reply);
  });
});
