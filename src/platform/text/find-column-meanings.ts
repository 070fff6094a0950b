/** What a column of people can hold. */
export type ColumnMeaning =
  | "phone"
  | "name"
  | "email"
  | "status"
  | "kanban_status"
  | "tags"
  | "opted_out"
  | "id";

/** Usual names in English, Portuguese and Spanish, as `foldName` returns them; the first ones are the most certain. */
const NAMES: Readonly<Record<ColumnMeaning, string>> = {
  phone:
    "phone,number,whatsapp,jid,to,phone number,phonenumber,mobile,mobile phone,mobile number,cell,cellphone,cell phone,tel,telephone,whatsapp number,phone 1 value,primary phone,contact number,msisdn,telefone,celular,numero,fone,numero de telefone,numero do telefone,telefone celular,numero do whatsapp,numero de whatsapp,whats,zap,telefono,movil,telefono movil,telefono celular,numero de telefono,numero de celular",
  name: "name,full name,display name,contact name,saved name,first name,given name,nome,nome completo,primeiro nome,nombre,nombre completo,nombre y apellido",
  email: "email,e mail,mail,email address,e mail 1 value,correo,correo electronico",
  status: "status,situacao",
  kanban_status: "kanban status,stage,etapa,fase",
  tags: "tags,tag,etiquetas,etiqueta,marcadores",
  opted_out: "opted out,opt out",
  id: "id",
};

/** A name in lower case without accents, signs and repeated spaces. */
function foldName(name: string): string {
  const bare = name.normalize("NFD").replace(/[\p{M}\p{Cf}]/gu, "");
  return bare
    .toLowerCase()
    .replace(/[^\p{L}\p{Nd}.]+/gu, " ")
    .trim();
}

const MEANINGS = Object.entries(NAMES).map(
  ([meaning, names]) => [meaning as ColumnMeaning, names.split(",")] as const,
);

/** The meaning of each column by its name. A meaning that two names have belongs to the more certain of them. */
export function findColumnMeanings(columns: readonly string[]): (ColumnMeaning | undefined)[] {
  const folded = columns.map(foldName);
  const meant = new Map<string | undefined, ColumnMeaning>();
  for (const [meaning, names] of MEANINGS)
    meant.set(
      names.find((name) => folded.includes(name)),
      meaning,
    );
  return folded.map((name) => meant.get(name));
}

const GOOGLE_MARK = "phone 1 value";
const OF_GOOGLE =
  /^(?:(?:first|middle|last) name|phonetic .*|name (?:prefix|suffix)|nickname|file as|birthday|notes|photo|labels|organization .*|(?:e mail|phone|address|relation|website|event|custom field) \d+ .*)$/;

/** The columns of an address book of Google Contacts that the gateway has no place for. */
export function isPassedOver(name: string, columns: readonly string[]): boolean {
  return OF_GOOGLE.test(foldName(name)) && columns.some((column) => foldName(column) === GOOGLE_MARK);
}
