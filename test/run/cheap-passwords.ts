import { PASSWORD_COST } from "../../src/features/accounts/password-hasher.ts";

/** Setup of the shared tests, most of which create accounts and sign in. */
Object.assign(PASSWORD_COST, { memoryCost: 256, timeCost: 1 });
