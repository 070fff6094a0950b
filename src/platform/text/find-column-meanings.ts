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

/** The columns of a campaign's report before those of its variables. */
export const REPORT_COLUMNS = [
  "phone",
  "status",
  "reason",
  "message_id",
  "planned_at",
  "decided_at",
] as const;
/** The prefix of a variable's column in a report, so that no variable takes the place of another column. */
export const VARIABLE_COLUMN = "variables.";

function isReport(columns: readonly string[]): boolean {
  return REPORT_COLUMNS.every((name) => columns.includes(name));
}

function isOfReport(name: string, columns: readonly string[]): boolean {
  return isReport(columns) && REPORT_COLUMNS.some((own) => own === name);
}

/** The variable that each column gives a recipient; undefined for a column that gives none. */
export function findVariableNames(columns: readonly string[]): (string | undefined)[] {
  const phoneAt = findColumnMeanings(columns).indexOf("phone");
  return columns.map((name, at) => {
    if (at === phoneAt || name === "" || isOfReport(name, columns)) return undefined;
    return (name.startsWith(VARIABLE_COLUMN) ? name.slice(VARIABLE_COLUMN.length) : name).toLowerCase();
  });
}

/**
 * The meaning of each column by its name. A meaning that two names have belongs to the more certain of them. The status
 * in a campaign's report is none of a lead.
 */
export function findColumnMeanings(columns: readonly string[]): (ColumnMeaning | undefined)[] {
  if (isReport(columns)) return columns.map((name) => (name === "phone" ? "phone" : undefined));
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

/** The columns of Google Contacts and of a campaign's report that a lead has no place for. */
export function isPassedOver(name: string, columns: readonly string[]): boolean {
  if (isOfReport(name, columns) || name.startsWith(VARIABLE_COLUMN)) return true;
  return OF_GOOGLE.test(foldName(name)) && columns.some((column) => foldName(column) === GOOGLE_MARK);
}
