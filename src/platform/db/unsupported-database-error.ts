/** The database responds, but this version cannot use it; the message says what to do. */
export class UnsupportedDatabaseError extends Error {
  override readonly name = "UnsupportedDatabaseError";
}
