import type { WACallEvent, WASocket } from "baileys";
import type { CallLine } from "./call-line.ts";
import type { FileHosts } from "./file-hosts.ts";
import type { Groups } from "./groups.ts";
import type { ItemCache } from "./key-cache.ts";
import type { People } from "./people.ts";

/** What every call needs of its connection. */
export interface CallDesk {
  sock: WASocket;
  hosts: FileHosts;
  line: CallLine;
  people: People;
  groups: Groups;
  /** Calls that ring, by id. */
  ringing: ItemCache<WACallEvent>;
  /** What need not be told again. */
  told: ItemCache<string>;
}
