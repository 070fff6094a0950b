import { describe, expect, test } from "vitest";
import { decodeText } from "./decode-text.ts";
import {
  fileNameInDisposition,
  fileNameInForm,
  fileNameOfUrl,
  formText,
  readDisposition,
} from "./file-names.ts";

/** A header as HTTP decodes it: one character for each byte. */
const utf8 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

describe("the name of a file in a header", () => {
  test.each<[string, string | undefined, string | undefined]>([
    // Plain names.
    ["absent", undefined, undefined],
    ["empty", "", undefined],
    ["a type alone", "attachment", undefined],
    ["an empty name", 'attachment; filename=""', undefined],
    ["a quote without an end", 'attachment; filename="', undefined],
    ["blanks alone", 'attachment; filename="   "', undefined],
    ["quoted", 'attachment; filename="Offer 7.pdf"', "Offer 7.pdf"],
    ["without quotes", "attachment; filename=offer.pdf", "offer.pdf"],
    ["without quotes, with blanks", "attachment; filename=my new offer.pdf", "my new offer.pdf"],
    ["without quotes, before another parameter", "attachment; filename=a.pdf; size=3", "a.pdf"],
    ["single quotes", "attachment; filename='offer.pdf'", "offer.pdf"],
    ["an apostrophe", 'attachment; filename="Ana\'s.pdf"', "Ana's.pdf"],
    ["blanks around the equals sign", 'attachment ;  FileName = "a.pdf"', "a.pdf"],
    ["inline", 'inline; filename="a.pdf"', "a.pdf"],
    ["no type", 'filename="a.pdf"', "a.pdf"],
    ["no semicolon", 'attachment filename="a.pdf"', "a.pdf"],
    ["two semicolons", 'attachment;; filename="a.pdf"', "a.pdf"],
    ["a semicolon in the name", 'attachment; filename="a;b.pdf"', "a;b.pdf"],
    ["an equals sign in the name", 'attachment; filename="a=b.pdf"', "a=b.pdf"],
    ["escaped quotes", 'attachment; filename="a \\"b\\".pdf"', 'a "b".pdf'],
    ["a quote that never ends", 'attachment; filename="a.pdf', "a.pdf"],
    ["a Windows path", 'attachment; filename="C:\\docs\\a.pdf"', "C:\\docs\\a.pdf"],
    ["an escaped Windows path", 'attachment; filename="C:\\\\docs\\\\a.pdf"', "C:\\docs\\a.pdf"],
    ["another parameter that ends alike", 'attachment; xfilename="no.pdf"; filename="a.pdf"', "a.pdf"],
    ["two names, of which the first counts", 'attachment; filename="a.pdf"; filename="b.pdf"', "a.pdf"],
    ["a header longer than 8 KiB", `attachment; filename="${"a".repeat(9000)}"`, undefined],
    [
      "more than 50 parameters",
      `attachment; ${Array.from({ length: 60 }, (_, n) => `q${n}=1; `).join("")}filename=a`,
      undefined,
    ],
    // Raw bytes.
    ["raw UTF-8", utf8('attachment; filename="Orçamento.pdf"'), "Orçamento.pdf"],
    ["raw UTF-8 without quotes", utf8("attachment; filename=Número 7.pdf"), "Número 7.pdf"],
    ["raw UTF-8 of four bytes", utf8('attachment; filename="😀.pdf"'), "😀.pdf"],
    ["raw CJK", utf8('attachment; filename="测试.xls"'), "测试.xls"],
    ["raw ISO-8859-1", 'attachment; filename="Número.pdf"', "Número.pdf"],
    ["raw ISO-8859-1 at the end", 'attachment; filename="Café"', "Café"],
    ["raw Windows-1252", 'attachment; filename="5 \x80 \x96 offer.pdf"', "5 € – offer.pdf"],
    // RFC 8187.
    ["UTF-8 by RFC 8187", "attachment; filename*=UTF-8''N%C3%BAmero.pdf", "Número.pdf"],
    [
      "... that wins over the other",
      "attachment; filename=\"x.pdf\"; filename*=UTF-8''N%C3%BAmero.pdf",
      "Número.pdf",
    ],
    ["... in any order", "attachment; filename*=utf-8'pt'N%C3%BAmero.pdf; filename=\"x.pdf\"", "Número.pdf"],
    ["ISO-8859-1 by RFC 8187", "attachment; filename*=ISO-8859-1''N%FAmero.pdf", "Número.pdf"],
    ["Shift_JIS by RFC 8187", "attachment; filename*=Shift_JIS''%93%FA%96%7B.pdf", "日本.pdf"],
    ["KOI8-R by RFC 8187", "attachment; filename*=koi8-r''%D0%D2%C1%CA%D3.pdf", "прайс.pdf"],
    ["RFC 8187 in quotes", "attachment; filename*=\"UTF-8''N%C3%BAmero.pdf\"", "Número.pdf"],
    ["RFC 8187 without a charset", "attachment; filename*=''N%C3%BAmero.pdf", "Número.pdf"],
    ["RFC 8187 without anything", "attachment; filename*=N%C3%BAmero.pdf", "Número.pdf"],
    ["RFC 8187 with an unknown charset", "attachment; filename*=klingon''N%C3%BAmero.pdf", "Número.pdf"],
    ["RFC 8187 that lies about its charset", "attachment; filename*=UTF-8''N%FAmero.pdf", "Número.pdf"],
    ["RFC 8187 with raw UTF-8", utf8("attachment; filename*=UTF-8''Número.pdf"), "Número.pdf"],
    ["RFC 8187 with a stray percent sign", "attachment; filename*=UTF-8''50%25 of 5%.pdf", "50% of 5%.pdf"],
    // RFC 2231.
    ["parts by RFC 2231", 'attachment; filename*0="a long "; filename*1="name.pdf"', "a long name.pdf"],
    [
      "encoded parts by RFC 2231",
      "attachment; filename*0*=UTF-8''N%C3%BA; filename*1*=mero%20; filename*2=7.pdf",
      "Número 7.pdf",
    ],
    [
      "a character in two parts",
      "attachment; filename*0*=UTF-8''N%C3; filename*1*=%BAmero.pdf",
      "Número.pdf",
    ],
    ["parts that do not begin at 0", "attachment; filename*1=b.pdf", undefined],
    // RFC 2047.
    ["RFC 2047 in base64", 'attachment; filename="=?UTF-8?B?TsO6bWVyby5wZGY=?="', "Número.pdf"],
    [
      "RFC 2047 in quoted-printable",
      'attachment; filename="=?utf-8?q?N=C3=BAmero=207.pdf?="',
      "Número 7.pdf",
    ],
    ["RFC 2047 with underscores", 'attachment; filename="=?ISO-8859-1?Q?N=FAmero_7.pdf?="', "Número 7.pdf"],
    ["RFC 2047 without quotes", "attachment; filename==?UTF-8?B?TsO6bWVyby5wZGY=?=", "Número.pdf"],
    ["RFC 2047 with a language", 'attachment; filename="=?utf-8*pt?Q?N=C3=BAmero?="', "Número"],
    [
      "words that share a character",
      'attachment; filename="=?UTF-8?B?TsM=?= =?UTF-8?B?um1lcm8=?="',
      "Número",
    ],
    ["words of two charsets", 'attachment; filename="=?UTF-8?Q?=C3=BA?= =?ISO-8859-1?Q?=FA?="', "úú"],
    ["a word between letters", 'attachment; filename="no =?UTF-8?Q?=C3=BA?= more.pdf"', "no ú more.pdf"],
    ["a word that is none", 'attachment; filename="=?what?.pdf"', "=?what?.pdf"],
    // Percent-encoded without a declaration.
    ["percent-encoded UTF-8", 'attachment; filename="N%C3%BAmero.pdf"', "Número.pdf"],
    ["percent-encoded blanks", "attachment; filename=my%20offer.pdf", "my offer.pdf"],
    ["percent-encoded ISO-8859-1", 'attachment; filename="N%FAmero.pdf"', "Número.pdf"],
    ["a percent sign that is one", 'attachment; filename="50%.pdf"', "50%.pdf"],
    ["a percent sign and digits", 'attachment; filename="100%25.pdf"', "100%25.pdf"],
    ["a plus sign, which stays", 'attachment; filename="a+b.pdf"', "a+b.pdf"],
  ])("is read: %s", (_, header, name) => expect(fileNameInDisposition(header)).toBe(name));
});

test.each<[string, string, string | undefined]>([
  ["raw UTF-8", utf8('form-data; name="file"; filename="Número.pdf"'), "Número.pdf"],
  ["ISO-8859-1", 'form-data; name="file"; filename="Número.pdf"', "Número.pdf"],
  ["RFC 2047", 'form-data; name="file"; filename="=?UTF-8?B?TsO6bWVyby5wZGY=?="', "Número.pdf"],
  ["RFC 8187", "form-data; name=\"file\"; filename*=utf-8''N%C3%BAmero.pdf", "Número.pdf"],
  ["quotes as browsers encode them", 'form-data; name="file"; filename="a%22b%22.pdf"', 'a"b".pdf'],
  [
    "a percent sign as browsers leave it",
    'form-data; name="file"; filename="100%20off.pdf"',
    "100%20off.pdf",
  ],
  ["an empty name", 'form-data; name="file"; filename=""', ""],
  ["no name", 'form-data; name="file"', undefined],
])("the name of an uploaded file is read: %s", (_, header, name) => {
  const parameters = readDisposition(header);
  expect([formText(parameters.get("name") ?? ""), fileNameInForm(parameters)]).toEqual(["file", name]);
});

test.each([
  ["https://a.example/files/N%C3%BAmero.pdf?x=1#y", "Número.pdf"],
  ["https://a.example/N%FAmero.pdf", "Número.pdf"],
  ["https://a.example/Número.pdf", "Número.pdf"],
  ["https://a.example/50%.pdf", "50%.pdf"],
  ["https://a.example/plus+sign.pdf", "plus+sign.pdf"],
  ["https://a.example/%E6%B5%8B-2(2).xls", "测-2(2).xls"],
  ["https://a.example/folder/", undefined],
  ["https://a.example", undefined],
  ["no address", undefined],
])("the name of a file at %s", (url, name) => expect(fileNameOfUrl(url)).toBe(name));

test.each<[string, Buffer, string | undefined, string]>([
  ["UTF-8", Buffer.from("Olá"), undefined, "Olá"],
  ["UTF-8 with a mark", Buffer.from("\ufeffOlá"), undefined, "Olá"],
  ["ISO-8859-1", Buffer.from("Ol\xe1", "latin1"), undefined, "Olá"],
  ["a declared charset", Buffer.from([0xcf, 0xf0, 0xe8]), "windows-1251", "При"],
  ["a declared charset that it is not", Buffer.from("Ol\xe1", "latin1"), "utf-8", "Olá"],
  ["a declared charset that nobody knows", Buffer.from("Olá"), "x-nothing", "Olá"],
  ["UTF-16", Buffer.from("Olá", "utf16le"), "UTF-16LE", "Olá"],
  ["nothing", Buffer.alloc(0), undefined, ""],
])("text in %s is read", (_, bytes, charset, text) => expect(decodeText(bytes, charset)).toBe(text));

test("a text that was cut inside a character keeps its charset", () => {
  const bytes = Buffer.from("Olá, ação");
  expect(decodeText(bytes.subarray(0, bytes.length - 2), undefined, true)).toBe("Olá, aç");
});
