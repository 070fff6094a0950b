export interface ScratchOwner {
  email: string;
  password: string;
}

/** The environment of a gateway on scratch data, without settings that would point it at the user's data. */
export function scratchSettings(
  env: NodeJS.ProcessEnv,
  dataDir: string,
  owner: ScratchOwner,
): NodeJS.ProcessEnv {
  const isOurs = (name: string) => /^(WAYGATE_.*|DATABASE_URL|PORT|NODE_ENV)$/.test(name);
  const rest = Object.entries(env).filter(([name]) => !isOurs(name));
  return {
    ...Object.fromEntries(rest),
    WAYGATE_DATA_DIR: dataDir,
    WAYGATE_PORT: "0",
    WAYGATE_OWNER_EMAIL: owner.email,
    WAYGATE_OWNER_PASSWORD: owner.password,
    WAYGATE_ALLOWED_HOSTS: "loopback",
    // An address where nothing listens: only the sandbox network is used.
    WAYGATE_WHATSAPP_URL: "ws://127.0.0.1:1/",
    WAYGATE_LOG_LEVEL: "warn",
  };
}
