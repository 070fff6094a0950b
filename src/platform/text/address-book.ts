const BOOKS: readonly { mark: RegExp; columns: RegExp }[] = [
  {
    // Google Contacts, also its older export.
    mark: /^phone 1 value$/,
    columns:
      /^(?:(?:first|middle|last|given|additional|family|short|maiden) name|(?:phonetic|yomi) .*|.* yomi|name (?:prefix|suffix)|nickname|initials|file as|birthday|gender|location|billing information|directory server|mileage|occupation|hobby|sensitivity|priority|subject|notes|language|photo|labels|group membership|organization .*|(?:e mail|im|phone|address|relation|website|event|jot|custom field) \d+ .*)$/,
  },
  {
    mark: /^(?:mobile|home|business|primary) phone$/,
    columns:
      /^(?:(?:first|middle|last) name|title|suffix|nickname|.* yomi|initials|gender|e mail (?:\d+ )?(?:address|display name|type)|.* phone(?: \d)?|.* fax|pager|callback|telex|isdn|imaddress|job title|department|company|organizational .*|profession|office location|(?:manager|assistant) s (?:name|phone)|(?:home|business|other) (?:street|address|city|state|postal code|country).*|.*web page|spouse|children|schools|hobby|language|location|birthday|anniversary|categories|keywords|account|billing information|directory server|mileage|government id number|internet free busy|priority|private|referred by|sensitivity|user \d|notes)$/,
  },
];

/** Whether each column is one of an address book of Google or Outlook; all names as `foldName` returns them. */
export function findOfAddressBook(columns: readonly string[]): boolean[] {
  const books = BOOKS.filter(({ mark }) => columns.some((one) => mark.test(one)));
  return columns.map((name) => books.some(({ columns: own }) => own.test(name)));
}

/** Two values in a cell of Google Contacts, of which the first counts. */
export const GOOGLE_SEPARATOR = " ::: ";
