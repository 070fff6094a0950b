import { CROWD_PAUSE } from "../../src/core/accounts/sign-in/verify-password.ts";
import { PASSWORD_COST } from "../../src/core/accounts/users/password-hasher.ts";
import { SANDBOX_TIMING } from "../../src/network/sandbox/sandbox-timing.ts";

/** Cheap password hashing and short waits for shared tests. */
Object.assign(PASSWORD_COST, { memoryCost: 256, timeCost: 1 });
Object.assign(CROWD_PAUSE, { ms: 100 });
Object.assign(SANDBOX_TIMING, { deliveredMs: 5, readMs: 10, echoMs: 15, reconnectMs: 50 });
