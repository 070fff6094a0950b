import { expect, test, vi } from "vitest";
import { growsLinearly } from "../../../test/cpu-time.ts";
import { type CsvFormat, readCsvTable } from "./csv-table.ts";
import { findColumnMeanings, findPassedOver, LEAD_COLUMNS } from "./find-column-meanings.ts";
import { toCsvLine } from "./to-csv-line.ts";

/** Column names and the cells of each record, one line each, with errors in angle brackets. */
async function read(file: string | Uint8Array, format?: CsvFormat): Promise<string[]> {
  const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file;
  const table = await readCsvTable(bytes, format);
  const lines = [table.columns.join("|")];
  for await (const { line, cells, problem } of table.records())
    lines.push(`${line} ${cells ? cells.join("|") : `<${problem}>`}`);
  return lines;
}

const utf16be = (text: string) => Buffer.from(text, "utf16le").swap16();
const ANA = ["phone|name", "2 5511987650003|Ana"];

test.each<[string, string | Uint8Array, string[]]>([
  // Separators.
  ["commas", "phone,name\n5511987650003,Ana\n", ANA],
  ["semicolons", "phone;name\n5511987650003;Ana\n", ANA],
  ["tabs", "phone\tname\n5511987650003\tAna\n", ANA],
  [
    "the line sep=; of Excel",
    "sep=;\r\nphone;name\r\n5511987650003;Ana",
    ["phone|name", "3 5511987650003|Ana"],
  ],
  ["SEP=, in quotes", '"SEP=,"\nphone,name\n1,a;b', ["phone|name", "3 1|a;b"]],
  ["sep= with a tab", "sep=\t\nphone\tname\n1\ta,b,c", ["phone|name", "3 1|a,b,c"]],
  ["a line sep= and nothing else", "sep=;\n", [""]],
  ["a second line sep= is a head", "sep=;\nsep=,;x\n1;2", ["sep=,|x", "3 1|2"]],
  ["commas inside quotes of a head with semicolons", 'phone;"a,b,c,d"\n1;2', ["phone|a,b,c,d", "2 1|2"]],
  ["semicolons inside quotes of a head with commas", '"a;b;c;d",phone\n1,2', ["a;b;c;d|phone", "2 1|2"]],
  ["bars", "phone|name\n5511987650003|Ana\n||\n", ANA],
  ["sep=|", "sep=|\nphone|name\n1|a,b;c", ["phone|name", "3 1|a,b;c"]],
  ["one column", "phone\n5511987650003\n", ["phone", "2 5511987650003"]],
  // Lines.
  ["line ends of Windows", "phone,name\r\n5511987650003,Ana\r\n", ANA],
  ["line ends of old Macs", "phone,name\r5511987650003,Ana\r", ANA],
  ["no end of the last line", "phone,name\n5511987650003,Ana", ANA],
  ["empty lines before the head", "\n\r\n \nphone,name\n1,a", ["phone|name", "5 1|a"]],
  ["a line of separators before the head", ";;\nphone;name\n1;a", ["phone|name", "3 1|a"]],
  ["empty lines between records", "phone,name\n\n1,a\n\n\n2,b\n", ["phone|name", "3 1|a", "6 2|b"]],
  ["lines of separators", "phone;name\n;;\n1;a\n;\n", ["phone|name", "3 1|a"]],
  ["lines of empty quotes", 'phone;name\n"";""\n1;a', ["phone|name", "3 1|a"]],
  ["a head with a line break in quotes", '"phone\nnumber",name\n1,a', ["phone number|name", "3 1|a"]],
  ["a cell with a line break", 'phone,name\n1,"A\nB"\n2,c', ["phone|name", "2 1|A\nB", "4 2|c"]],
  ["nothing", "", [""]],
  ["a head alone", "phone,name", ["phone|name"]],
  // Quotes.
  ["every cell in quotes", '"phone","name"\n"5511987650003","Ana"\n', ANA],
  ["doubled quotes", 'phone,name\n1,"""A"""', ["phone|name", '2 1|"A"']],
  ["a quote inside a cell without quotes", 'phone,name\n1,5"x', ["phone|name", "2 <quotes>"]],
  ["a quote that never closes", 'phone,name\n1,"A\n2,b', ["phone|name", "2 <quotes>", "3 2|b"]],
  [
    "two quotes inside cells without quotes",
    'phone,name\n1,5"x\n2,b\n3,5"y\n4,d',
    ["phone|name", "2 <quotes>", "3 2|b", "4 <quotes>", "5 4|d"],
  ],
  [
    "a cell of many lines",
    `phone,name\n1,"${"A\n".repeat(40)}"\n2,c`,
    ["phone|name", `2 1|${"A\n".repeat(40)}`, "43 2|c"],
  ],
  ["more cells than names", "phone,name\n1,a,b\n2,c", ["phone|name", "2 <cells>", "3 2|c"]],
  [
    "separators behind its records",
    'phone,name\n1,a,\n2,b,, ,""\n3,c,,d',
    ["phone|name", "2 1|a", "3 2|b", "4 <cells>"],
  ],
  [
    "a separator behind its first record alone",
    "5511987650003,Ana,\n5511987650004,Bia",
    ["phone|name|column 3", "1 5511987650003|Ana|", "2 5511987650004|Bia"],
  ],
  ["fewer cells than names", "phone,name\n1\n", ["phone|name", "2 1"]],
  // Encodings.
  ["the mark of UTF-8", "\uFEFFphone,name\n5511987650003,Ana", ANA],
  ["the mark of UTF-8 before sep=", "\uFEFFsep=;\nphone;name\n1;a", ["phone|name", "3 1|a"]],
  ["UTF-8 with accents", "phone,name\n1,Zoë 测试", ["phone|name", "2 1|Zoë 测试"]],
  [
    "UTF-16 with its mark",
    Buffer.from("\uFEFFphone\tname\r\n1\tZoë\r\n", "utf16le"),
    ["phone|name", "2 1|Zoë"],
  ],
  ["UTF-16 without its mark", Buffer.from("phone\tname\r\n1\tZoë\r\n", "utf16le"), ["phone|name", "2 1|Zoë"]],
  ["UTF-16 BE with its mark", utf16be("\uFEFFphone,name\n1,Zoë"), ["phone|name", "2 1|Zoë"]],
  ["UTF-16 BE without its mark", utf16be("phone,name\n1,Zoë"), ["phone|name", "2 1|Zoë"]],
  ["Windows-1252", Buffer.from("phone;name\n1;Jos\xe9 \x80\n", "latin1"), ["phone|name", "2 1|José €"]],
  [
    "UTF-8 with a byte of Windows-1252",
    Buffer.concat([Buffer.from("phone,name\n1,Zoë 测试\n2,"), Buffer.from("Jos\xe9", "latin1")]),
    ["phone|name", "2 1|Zoë 测试", "3 2|José"],
  ],
  ["a zero byte in UTF-8", "phone,name\n1,A\0B", ["phone|name", "2 1|AB"]],
  // Marks of spreadsheets.
  ["a formula mark", "phone,name\n1,'=A1", ["phone|name", "2 1|=A1"]],
  ["a formula mark of a head", "phone,'=name\n1,a", ["phone|=name", "2 1|a"]],
  [
    "a mark before a signed number",
    "phone,name\n'+5511987650003,Ana",
    ["phone|name", "2 '+5511987650003|Ana"],
  ],
  [
    "the apostrophe of a text cell",
    "phone,name\n'5511987650003,'tis",
    ["phone|name", "2 '5511987650003|'tis"],
  ],
  ["a number as a formula", 'phone,name\n"=""5511987650003""",Ana', ["phone|name", "2 5511987650003|Ana"]],
  ["a text as a formula", 'phone,name\n="551",="Silva, ""Bia"""', ["phone|name", '2 551|Silva, "Bia"']],
  ["a formula that is no text alone", 'phone,name\n1,"=""a""&""b"""', ["phone|name", '2 1|="a"&"b"']],
  // Names and phones in several columns.
  [
    "the parts of a name",
    "Last Name,Phone,First Name,Middle Name\nSilva,551,Ana,\n,552,Bia,M.\n,553,,\n",
    [
      "Last Name|Phone|First Name|Middle Name|name",
      "2 Silva|551|Ana||Ana Silva",
      "3 |552|Bia|M.|Bia M.",
      "4 |553|||",
    ],
  ],
  [
    "a first name beside a surname",
    "Nome;Sobrenome;Tel.\nAna;Lima;551",
    ["Nome|Sobrenome|Tel.|name", "2 Ana|Lima|551|Ana Lima"],
  ],
  [
    "a full name beside its parts",
    "name,given name,surname,phone\nAna L,Ana,Lima,551\n,Bia,Reis,552",
    ["name|given name|surname|phone", "2 Ana L|Ana|Lima|551", "3 Bia Reis|Bia|Reis|552"],
  ],
  [
    "a code of the area in a column of its own",
    "DDD;Telefone;Nome\n11;98765-0003;Ana\n011;+5511987650004;Bia\n11;11 98765-0005;Caio\n;98765-0006;Eva",
    [
      "DDD|Telefone|Nome|phone",
      "2 11|98765-0003|Ana|(11) 98765-0003",
      "3 011|+5511987650004|Bia|+5511987650004",
      "4 11|11 98765-0005|Caio|11 98765-0005",
      "5 |98765-0006|Eva|98765-0006",
    ],
  ],
  [
    "codes of countries and areas beside two phones",
    "DDI,DDD 1,Fone,DDD 2,Celular\n55,11,3333-0003,21,98765-0003",
    [
      "DDI|DDD 1|Fone|DDD 2|Celular|phone",
      "2 55|11|3333-0003|21|98765-0003|(21) 98765-0003;phone-context=+55",
    ],
  ],
  [
    "a code of the country in a column of its own",
    "country_code,phone\n1,2125550123\n0044,020 7946 0018\n55,+351912345678\n55,5511987650003\n,2125550123\nx;1,2125550123",
    [
      "country_code|phone",
      "2 1|2125550123;phone-context=+1",
      "3 0044|020 7946 0018;phone-context=+44",
      "4 55|+351912345678",
      "5 55|5511987650003",
      "6 |2125550123",
      "7 x;1|2125550123;phone-context=x 1",
    ],
  ],
  [
    "the name of a country, and the number of WhatsApp behind a flag",
    "País;Telefone;WhatsApp\nBrasil;11987650003;1\n+55;98765;987650003",
    [
      "País|Telefone|WhatsApp|phone",
      "2 Brasil|11987650003|1|11987650003;phone-context=Brasil",
      "3 +55|98765|987650003|987650003;phone-context=+55",
    ],
  ],
  [
    "the code of a country as a prefix, beside two numbers of Google",
    "Prefijo,Phone 1 - Value\n+57,3001234567 ::: 3001234568",
    ["Prefijo|Phone 1 - Value|phone", "2 +57|3001234567 ::: 3001234568|3001234567;phone-context=+57"],
  ],
  [
    "several phones",
    "Home Phone,Mobile Phone,Name\n551,,Ana\n552,553,Bia\n,,Eva",
    ["Home Phone|Mobile Phone|Name|phone", "2 551||Ana|551", "3 552|553|Bia|553", "4 ||Eva|"],
  ],
  [
    "a phone that is filled from another one, but not from any number",
    "phone,celular,number\n,551,9\n552,553,9\n,,9",
    ["phone|celular|number", "2 551|551|9", "3 553|553|9", "4 ||9"],
  ],
  [
    "a landline before a mobile",
    "Nome;Telefone;Celular\nAna;551;552\nBia;553;",
    ["Nome|Telefone|Celular|phone", "2 Ana|551|552|552", "3 Bia|553||553"],
  ],
  [
    "a mobile before a landline",
    "Nome;Celular;Telefone\nAna;551;552\nBia;;553",
    ["Nome|Celular|Telefone|phone", "2 Ana|551|552|551", "3 Bia||553|553"],
  ],
  [
    "a mobile beside the number of WhatsApp",
    "Celular;Phone;WhatsApp\n551;552;553",
    ["Celular|Phone|WhatsApp", "2 551|553|553"],
  ],
  [
    "the labels of Google",
    "Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value\nHome,551,Mobile,552\n* Móvil,553,WhatsApp,554\n,555,Work,556",
    [
      "Phone 1 - Label|Phone 1 - Value|Phone 2 - Label|Phone 2 - Value|phone",
      "2 Home|551|Mobile|552|552",
      "3 * Móvil|553|WhatsApp|554|554",
      "4 |555|Work|556|555",
    ],
  ],
  [
    "a fax of Google",
    "Phone 1 - Label,Phone 1 - Value,Phone 2 - Type,Phone 2 - Value\nWork Fax,551,Home,552\nFax casa,553,Pager,554",
    [
      "Phone 1 - Label|Phone 1 - Value|Phone 2 - Type|Phone 2 - Value|phone",
      "2 Work Fax|551|Home|552|552",
      "3 Fax casa|553|Pager|554|",
    ],
  ],
  [
    "the labels of Google's older export",
    "Phone 1 - Type,Phone 1 - Value,Phone 2 - Type,Phone 2 - Value\nHome,551,Celular,552",
    ["Phone 1 - Type|Phone 1 - Value|Phone 2 - Type|Phone 2 - Value|phone", "2 Home|551|Celular|552|552"],
  ],
  [
    "a column that says whether a phone has WhatsApp",
    "WhatsApp;Telefone;Nome\nsim;551;Ana\n1;552;Bia\n553;554;Eva\nnão;;Ivo",
    [
      "WhatsApp|Telefone|Nome|phone",
      "2 sim|551|Ana|551",
      "3 1|552|Bia|552",
      "4 553|554|Eva|553",
      "5 não||Ivo|não",
    ],
  ],
  [
    "two numbers in a cell of Google",
    "Phone 1 - Value,Phone 2 - Value\n551 ::: 552,553\n,554 ::: 555",
    ["Phone 1 - Value|Phone 2 - Value|phone", "2 551 ::: 552|553|551", "3 |554 ::: 555|554"],
  ],
  [
    "more cells than a file with a joined name has",
    "surname,phone\na,551,x",
    ["surname|phone|name", "2 <cells>"],
  ],
  // Names.
  ["names with spaces", " Phone ; Full   name \n1;a", ["Phone|Full name", "2 1|a"]],
  ["a name that occurs twice", "phone,name,name\n1,a,b", ["phone|name|name", "2 1|a|b"]],
  ["an empty name", "phone,,name\n1,2,a", ["phone||name", "2 1|2|a"]],
  // No header.
  ["bare numbers", "5511987650003\n5511987650004\n", ["phone", "1 5511987650003", "2 5511987650004"]],
  [
    "numbers and names",
    "5511987650003;Ana\n5511987650004;Bia",
    ["phone|name", "1 5511987650003|Ana", "2 5511987650004|Bia"],
  ],
  ["the number behind the name", "Ana,+55 11 98765-0003", ["name|phone", "1 Ana|+55 11 98765-0003"]],
  [
    "two numbers in a record",
    "5511987650003,5511987650004",
    ["column 1|column 2", "1 5511987650003|5511987650004"],
  ],
  [
    "a float of a spreadsheet first",
    "5511987650003.0\n5511987650004.0",
    ["phone", "1 5511987650003.0", "2 5511987650004.0"],
  ],
  [
    "two numbers in the first cell",
    "5511987650003 / 5511987650004\n",
    ["phone", "1 5511987650003 / 5511987650004"],
  ],
  ["an address of a number first", "tel:+55-11-98765-0003\n", ["phone", "1 tel:+55-11-98765-0003"]],
  ["digits of another script first", "+٥٥١١٩٨٧٦٥٠٠٠٣\n", ["phone", "1 +٥٥١١٩٨٧٦٥٠٠٠٣"]],
  ["an empty line before numbers", "\n\n5511987650003\n", ["phone", "3 5511987650003"]],
  ["sep= before numbers", "sep=;\n5511987650003;Ana", ["phone|name", "2 5511987650003|Ana"]],
  [
    "an e-mail, a name and a note beside the number",
    "bia@example.com,Bia,x,5511987650003",
    ["email|name|column 3|phone", "1 bia@example.com|Bia|x|5511987650003"],
  ],
  [
    "a date among the names",
    "phone;name;01/05/2024\n5511987650003;Ana;x",
    ["phone|name|01/05/2024", "2 5511987650003|Ana|x"],
  ],
  [
    "a word for phones in a record",
    "5511987650003;Ana;WhatsApp\n5511987650004;Bia;WhatsApp",
    ["phone|name|column 3", "1 5511987650003|Ana|WhatsApp", "2 5511987650004|Bia|WhatsApp"],
  ],
  // Excel's decimal commas, and a title.
  [
    "floats with a comma below one name",
    "telefone\n5,51199E+12\n5511987650003,00\n5511987650004",
    ["telefone", "2 5,51199E+12", "3 5511987650003,00", "4 5511987650004"],
  ],
  [
    "a text behind a phone in a file of one column",
    "Teléfono\n5511987650003,Ana\n5511987650003, 5511987650004",
    ["Teléfono", "2 <cells>", "3 5511987650003, 5511987650004"],
  ],
  ["floats with a comma alone", "5,5E+12\n5,51199E+12", ["phone", "1 5,5E+12", "2 5,51199E+12"]],
  [
    "a fraction of zeros first",
    "5511987650003,00\n5511987650004,00",
    ["phone", "1 5511987650003,00", "2 5511987650004,00"],
  ],
  ["a phone and a number of one digit first", "5511987650003,0", ["phone|column 2", "1 5511987650003|0"]],
  ["names beside floats", "Ana;5,5E+12\nBia;5,6E+12", ["name|phone", "1 Ana|5,5E+12", "2 Bia|5,6E+12"]],
  [
    "a title in the first cell",
    "Lista de clientes;;\nNome;Telefone;Cidade\nAna;551;Rio",
    ["Nome|Telefone|Cidade", "3 Ana|551|Rio"],
  ],
  [
    "two titles without separators",
    "Customers\nExported in 2024\n\nphone,name\n551,Ana",
    ["phone|name", "5 551|Ana"],
  ],
  ["a title above one column", "Clientes\ntelefone\n551", ["telefone", "3 551"]],
  [
    "a word for phones in a row without a title",
    "Nome;Fonte\nAna;WhatsApp",
    ["Nome|Fonte", "2 Ana|WhatsApp"],
  ],
  ["a phone above the names", "5511987650003\nphone;name", ["phone", "1 5511987650003", "2 phone;name"]],
  ["a name with a year is a name", "phone,sales 2025\n1,2", ["phone|sales 2025", "2 1|2"]],
])("a file with %s is read", async (_what, file, lines) => {
  expect(await read(file)).toEqual(lines);
});

test("characters at the borders of pieces are whole beside bytes of another encoding", async () => {
  const rows = Array.from({ length: 30_000 }, (_, at) => `${at}|ë测${"x".repeat(at % 5)}`);
  const text = `id,name\n${rows.join("\n").replaceAll("|", ",")}\n`;
  const lines = await read(Buffer.concat([Buffer.from(text), Buffer.from("1,\xe9", "latin1")]));
  expect(lines.slice(1).map((line) => line.replace(/^\d+ /, ""))).toEqual([...rows, "1|é"]);
});

test("a file of many short vCards takes a time in proportion to its length", async () => {
  const readAll = async (cards: number) => {
    const { records } = await readCsvTable(Buffer.from("BEGIN:VCARD\n\n\n\n\n".repeat(cards)));
    let count = 0;
    for await (const _ of records()) count += 1;
    expect(count).toBe(cards);
  };
  expect(await growsLinearly(4_000, readAll)).toBe(true);
});

test("a file of two vCards far from each other lets others work at least once in 65,536 characters between them", async () => {
  const breaks = 1_000_000;
  const card = "BEGIN:VCARD\nTEL:1\nEND:VCARD";
  const { records } = await readCsvTable(Buffer.from(card + "\r\n".repeat(breaks) + card));
  const looks = vi.spyOn(performance, "now");
  try {
    const lines: number[] = [];
    for await (const { line } of records()) lines.push(line);
    expect(lines).toEqual([1, breaks + 3]);
    expect(looks.mock.calls.length).toBeGreaterThan((3 * breaks) / 65_536);
  } finally {
    looks.mockRestore();
  }
});

test("of the phones of a vCard, that of WhatsApp comes before a mobile, and that before another one", async () => {
  const toCard = (...phones: string[]) => ["BEGIN:VCARD", ...phones, "END:VCARD"].join("\n");
  const cards = [
    toCard("TEL;TYPE=HOME,PREF:551", "TEL;type=VOICE;type=cell:552"),
    toCard("TEL;WORK:553", 'TEL;VALUE=uri;TYPE="voice,cell":tel:554', "TEL;waid=5511987650003:555"),
    toCard("TEL;TYPE=HOME:556", "TEL;TYPE=WORK:557"),
    toCard("TEL;TYPE=WORK,FAX:558", "TEL;HOME;FAX:559", "TEL;type=pager:550", "TEL;TYPE=WORK:557"),
    toCard("TEL;WORK;FAX:558"),
  ];
  expect(await read(cards.join("\n"))).toEqual([
    "phone|name",
    "1 552|",
    "5 +5511987650003|",
    "10 556|",
    "14 557|",
    "20 |",
  ]);
});

test("a file of vCards has a record for each card, with its first phone", async () => {
  const cards = [
    "\ufeffBEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=4A=6F=C3=\n=A3=6F=20Lima\nTEL;CELL:11 98765-0003\nTEL;HOME:1133330001\nEND:VCARD",
    "BEGIN:VCARD\nVERSION:3.0\nPHOTO;ENCODING=b:AAAA=\nFN:Bia\nitem1.TEL;waid=5511987650004:98765-0004\nEND:VCARD\n",
    "begin:vcard\nFN:No phone\nend:vcard",
  ];
  const lines = ["phone|name", "1 11 98765-0003|João Lima", "8 +5511987650004|Bia", "15 |No phone"];
  expect(await read(cards.join("\n"))).toEqual(lines);
  expect(await read(cards.join("\n").replaceAll("\n", "\r\n"))).toEqual(lines);
  const table = await readCsvTable(new TextEncoder().encode(cards.join("\n")));
  expect([await table.hasMoreThan(2), await table.hasMoreThan(3)]).toEqual([true, false]);
});

test("in a file without a head the phone is the one column of phones in its first twenty records", async () => {
  const lines = Array.from({ length: 21 }, (_, at) => `Ana,${5_511_987_650_003 + at}`);
  const columnsWith = async (at: number) =>
    (await readCsvTable(Buffer.from(lines.with(at, "Bia,x").join("\n")))).columns.join("|");
  expect(await columnsWith(20)).toBe("name|phone");
  expect(await columnsWith(19)).toBe("name|column 2");
});

test("whether the first line names the columns can be said", async () => {
  expect(await read("5511987650003\n1", { hasHead: true })).toEqual(["5511987650003", "2 1"]);
  expect(await read("ana\nbia", { hasHead: false })).toEqual(["phone", "1 ana", "2 bia"]);
});

test.each([
  ["Phone,Full Name,E-mail,Stage,Tags", "phone,name,email,kanban_status,tags"],
  ["TELEFONE;Nome Completo;Situação", "phone,name,status"],
  ["Número de teléfono,Nombre,Correo electrónico", "phone,name,email"],
  ["Celular com DDD,Nome", "phone,name"],
  ["Nome;Telemóvel", "name,phone"],
  ["Telefone do cliente;Nome", "phone,name"],
  ["Número de contato;Nome", "phone,name"],
  ["Número de contacto;Nombre", "phone,name"],
  ["Phone1,Name", "phone,name"],
  ["Customer Phone,Name", "phone,name"],
  ["Billing Phone,Name", "phone,name"],
  ["wa_id,name", "phone,name"],
  ["Cel.;Nome", "phone,name"],
  ["Celular,Etapa,Etiquetas,ID", "phone,kanban_status,tags,"],
  ["número do WhatsApp,nome", "phone,name"],
  ["phone_number,display-name", "phone,name"],
  ["Móvil,Etiqueta", "phone,tags"],
  ["whatsapp,phone", ",phone"],
  ["First Name,Last Name,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value", "name,,email,,phone"],
  ["Saved Name,Phone Number", "name,phone"],
  ["city,order", ","],
  ["Nº celular,Cliente", "phone,name"],
  ["n. celular;E-mail Address", "phone,email"],
  ["Tel.;Contato", "phone,name"],
  ["Telefone 1;Nome", "phone,name"],
  ["Celular / WhatsApp,Nome", "phone,name"],
  ["Contato,Número", "name,phone"],
  ["Número,Celular principal", ",phone"],
  ["Celular c/ DDD;Nome", "phone,name"],
  ["Nro. de teléfono;Nombre", "phone,name"],
  ["nro_celular;nombre", "phone,name"],
  ["Tfno;Nombre", "phone,name"],
  ["Tlf.;Correo", "phone,email"],
  ["N.º telemóvel;Nome", "phone,name"],
  ["Name,Contact No", "name,phone"],
  ["Nombre;Contacto", "name,phone"],
  ["Nome;Contato", "name,phone"],
  ["Contacto;Celular", "name,phone"],
  ["Whats App,Name", "phone,name"],
  ["Nome;WPP", "name,phone"],
  ["mobilePhone,fullName", "phone,"],
  ["user_phone,user_id", "phone,"],
  ["Lead Phone,Lead Name", "phone,"],
  ["E164,name", "phone,name"],
  ["E.164;Name", "phone,name"],
  ["phone_e164,name", "phone,name"],
  ["Telefone da escola,Contact person", ","],
  ["Phone type,Fax,Phones sold", ",,"],
])("the columns %s mean %s", (names, meanings) => {
  expect(
    findColumnMeanings(names.split(/[,;]/))
      .map((one) => one ?? "")
      .join(),
  ).toBe(meanings);
});

test("an id is that of a lead only beside all other columns of an export", () => {
  expect(findColumnMeanings(LEAD_COLUMNS).indexOf("id")).toBe(0);
  for (const name of LEAD_COLUMNS.slice(1))
    expect(findColumnMeanings(LEAD_COLUMNS.filter((one) => one !== name))).not.toContain("id");
});

test.each([
  ["a workbook of Excel", "PK\u0003\u0004\u0014\0", "an Excel workbook"],
  ["a workbook of an older Excel", Buffer.from("d0cf11e0a1b11ae1", "hex"), "an older Excel"],
  ["a document", "%PDF-1.7\n", "a PDF document"],
  ["a page", "\ufeff\n<!DOCTYPE html><title>x", "an HTML page"],
  ["a table of a page that is named .xls", "<table><tr><td>phone", "an HTML page"],
  ["XML", '<?xml version="1.0"?>', "an XML file"],
  ["JSON", '[{"phone":"551"}]', "is JSON"],
  ["a text document", "{\\rtf1", "a text document"],
  ["an archive", Buffer.from("1f8b0800", "hex"), "a compressed file"],
  ["a picture", Buffer.from("89504e470d0a", "hex"), "a picture"],
  ["a chat from Android", "29/11/2026 12:00 - +55 11 98765-0003: Hello", "the history of a WhatsApp chat"],
  ["a chat from iOS", "\u200e[29/11/2026, 12:00:07] Ana: Hello", "the history of a WhatsApp chat"],
  ["a chat with a clock of twelve hours", "11/29/26, 9:05 PM - Ana: Hello", "the history of a WhatsApp chat"],
])("%s is refused by its name", async (_what, file, name) => {
  await expect(read(file)).rejects.toThrow(name);
});

test("columns of Google Contacts without a place are passed over only beside its own column of numbers", () => {
  const google = ["First Name", "Last Name", "Organization Name", "E-mail 1 - Label", "Phone 1 - Value"];
  expect(findPassedOver(google)).toEqual([true, true, true, true, true]);
  expect(findPassedOver([...google, "Order"]).at(-1)).toBe(false);
  const older = [
    "Name",
    "Given Name",
    "Family Name Yomi",
    "Group Membership",
    "Jot 1 - Value",
    "Phone 1 - Value",
  ];
  expect(findPassedOver(older)).toEqual([false, true, true, true, true, true]);
  const outlook = ["Business Street", "Manager's Name", "E-mail 2 Address", "Home Phone 2", "Mobile Phone"];
  expect(findPassedOver(outlook)).toEqual([true, true, true, true, true]);
  expect(findPassedOver(["phone", "Manager's Name"])).toEqual([false, false]);
  expect(findPassedOver(["phone", "Last Name"])).toEqual([false, false]);
});

test("what the gateway writes is read back without a change", async () => {
  const rows = [
    ["phone", "name", "custom_fields.note"],
    ["5511987650003", "=Ana", '+1 "x", @y'],
    ["551133330003", "'=Bia", "a;b"],
  ];
  expect(await read(rows.map(toCsvLine).join(""))).toEqual([
    "phone|name|custom_fields.note",
    '2 5511987650003|=Ana|+1 "x", @y',
    "3 551133330003|'=Bia|a;b",
  ]);
});
