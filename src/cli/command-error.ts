/** Why a command failed, for its user; shown without a stack, with exit status 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** The command line or a variable is wrong; shown without a stack, with exit status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
