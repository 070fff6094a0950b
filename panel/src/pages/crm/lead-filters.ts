export interface LeadFilter {
  search?: string;
  stage?: string;
  status?: string;
  tag?: string;
  optedOut?: boolean;
}

const LONGEST_SEARCH = 200;
const LONGEST_LABEL = 64;

/** Reads the list's filter from the URL and drops invalid values. */
export function readLeadFilter(search: Record<string, unknown>): LeadFilter {
  const text = (name: string, longest: number) => {
    const value = search[name];
    // The router parses ?search=5511 as a number.
    const written = typeof value === "number" ? String(value) : value;
    const isText = typeof written === "string" && written.trim() !== "" && written.length <= longest;
    return isText ? { [name]: written } : {};
  };
  return {
    ...text("search", LONGEST_SEARCH),
    ...text("stage", LONGEST_LABEL),
    ...text("status", LONGEST_LABEL),
    ...text("tag", LONGEST_LABEL),
    ...(typeof search.optedOut === "boolean" && { optedOut: search.optedOut }),
  };
}

export function toLeadQuery({ search, stage, status, tag, optedOut }: LeadFilter) {
  return {
    ...(search && { q: search }),
    ...(stage && { kanban_status: stage }),
    ...(status && { status }),
    ...(tag && { tag }),
    ...(optedOut !== undefined && { opted_out: String(optedOut) }),
  };
}
