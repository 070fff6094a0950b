/** The connection has ended, and with it all its pending work. */
export class ConnectionClosedError extends Error {
  constructor() {
    super("The connection is over.");
  }
}
