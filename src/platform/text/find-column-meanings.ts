import { findOfAddressBook } from "./address-book.ts";

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
const NAMES: Readonly<Record<Exclude<ColumnMeaning, "id">, string>> = {
  phone:
    "phone,e164,e 164,whatsapp,phone number,phonenumber,mobile,mobile phone,mobile number,contact no,cell,cellphone,cell phone,tel,telephone,whatsapp number,phone 1 value,primary phone,contact number,wa id,msisdn,telefone,celular,fone,numero de telefone,numero do telefone,telefone celular,numero do whatsapp,numero de whatsapp,whats,zap,telefono,movil,telefono movil,telefono celular,numero de telefono,numero de celular,numero de contato,numero de contacto",
  name: "name,full name,display name,contact name,saved name,first name,given name,nome,nome completo,primeiro nome,nombre,nombre completo,nombre y apellido,client,customer,contact,cliente,contato,contacto",
  email: "email,e mail,mail,email address,e mail address,e mail 1 value,correo,correo electronico",
  status: "status,situacao",
  kanban_status: "kanban status,stage,etapa,fase",
  tags: "tags,tag,etiquetas,etiqueta,marcadores",
  opted_out: "opted out,opt out",
};

/** Names of a phone that other columns have as well. */
const UNCERTAIN_PHONES = ["number", "jid", "to", "numero", "contacto", "contato"];
const PHONE_WORDS =
  /^(?:(?:mobile|cell|contact|user|lead|main)?phone(?:no|number)?|telephone|tel|mobile|mobileno|mobilenumber|mob|cell|cellphone|whatsapp|whatsappno|whatsappnumber|whats|zap|wpp|wsp|telefone|telefono|telemovel|telef|telf|tfno|tlf|tlfno|tlm|cel|celular|movil|fone|e164)\d?$/;
const BESIDE_PHONE =
  /^(?:\d|n|nº|n\.[ºo]|no|nro|num|number|numero|value|contact|contato|contacto|home|work|business|other|car|primary|main|personal|principal|residencial|comercial|casa|trabalho|trabajo|pessoal|outro|otro|customer|client|cliente|user|usuario|lead|buyer|recipient|destinatario|billing|shipping|com|con|with|c|ddd|app|de|do|da|del|of|e|y|and|ou|o|or)$/;

/** Whether the name says that the column holds phones, such as `Nº celular` and `Phone 2 - Value`. */
export function isPhoneName(name: string): boolean {
  const words = foldName(name).split(" ");
  return (
    words.some((word) => PHONE_WORDS.test(word)) &&
    words.every((word) => PHONE_WORDS.test(word) || BESIDE_PHONE.test(word))
  );
}

/** Longer texts are no names; only so much of them is read. */
const LONGEST_NAME = 200;

/** A name in lower case without accents, signs and repeated spaces. */
export function foldName(name: string): string {
  const bare = name
    .slice(0, LONGEST_NAME)
    .normalize("NFD")
    .replace(/[\p{M}\p{Cf}]/gu, "");
  return bare
    .toLowerCase()
    .replace(/[^\p{L}\p{Nd}.]+|\.(?=\P{L}|$)/gu, " ")
    .replace(/ +/g, " ")
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

/** The columns of an export of leads before those of custom fields. */
export const LEAD_COLUMNS = [
  "id",
  "phone",
  "lid",
  "name",
  "email",
  "status",
  "kanban_status",
  "tags",
  "opted_out",
  "opted_out_at",
  "created_at",
  "updated_at",
] as const;

function isOfLeads(name: string, columns: readonly string[]): boolean {
  return LEAD_COLUMNS.some((own) => own === name) && LEAD_COLUMNS.every((own) => columns.includes(own));
}

/** The column of a report with the variables that have no column of their own, as JSON; -1 if there is none. */
export function findOtherVariables(columns: readonly string[]): number {
  return isReport(columns) ? columns.indexOf("variables") : -1;
}

function isReport(columns: readonly string[]): boolean {
  return REPORT_COLUMNS.every((name) => columns.includes(name));
}

function isOfReport(name: string, columns: readonly string[]): boolean {
  return isReport(columns) && REPORT_COLUMNS.some((own) => own === name);
}

/** The variable that each column gives a recipient; undefined for a column that gives none. */
export function findVariableNames(columns: readonly string[]): (string | undefined)[] {
  const phoneAt = findColumnMeanings(columns).indexOf("phone");
  const othersAt = findOtherVariables(columns);
  return columns.map((name, at) => {
    if (at === phoneAt || at === othersAt || name === "" || isOfReport(name, columns)) return undefined;
    return (name.startsWith(VARIABLE_COLUMN) ? name.slice(VARIABLE_COLUMN.length) : name).toLowerCase();
  });
}

/**
 * The meaning of each column by its name. A meaning that two names have belongs to the more certain of them. The status
 * in a campaign's report is none of a lead, and only an export of leads has their ids.
 */
export function findColumnMeanings(columns: readonly string[]): (ColumnMeaning | undefined)[] {
  if (isReport(columns)) return columns.map((name) => (name === "phone" ? "phone" : undefined));
  const folded = columns.map(foldName);
  const meant = new Map<string | undefined, ColumnMeaning>();
  for (const [meaning, names] of MEANINGS)
    meant.set(names.find((name) => folded.includes(name)) ?? findOther(meaning, folded), meaning);
  return columns.map((name, at) =>
    name === "id" && isOfLeads(name, columns) ? "id" : meant.get(folded[at]),
  );
}

/** The column of a meaning that no certain name has. */
function findOther(meaning: ColumnMeaning, folded: readonly string[]): string | undefined {
  if (meaning !== "phone") return undefined;
  return folded.find(isPhoneName) ?? UNCERTAIN_PHONES.find((name) => folded.includes(name));
}

/** The columns of an export, a campaign's report and an address book that a lead has no place for. */
export function findPassedOver(columns: readonly string[]): boolean[] {
  const ofBook = findOfAddressBook(columns.map(foldName));
  return columns.map(
    (name, at) =>
      isOfLeads(name, columns) ||
      isOfReport(name, columns) ||
      name.startsWith(VARIABLE_COLUMN) ||
      ofBook[at] === true,
  );
}
