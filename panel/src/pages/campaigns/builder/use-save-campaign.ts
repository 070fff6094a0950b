import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { createKey, gateway } from "../../../gateway/gateway.ts";
import { type CampaignDraft, type PickedRecipient, toCampaignInput } from "./campaign-draft.ts";

interface SaveInput {
  draft: CampaignDraft;
  recipients: readonly PickedRecipient[];
}

/** Stores a draft and its recipients. A retry after an error updates what the first try stored. */
export function useSaveCampaign(known: number | undefined, onSaved: (id: number) => void) {
  const queries = useQueryClient();
  const stored = useRef(known);
  const key = useRef(createKey());
  return useMutation({
    mutationFn: async ({ draft, recipients }: SaveInput) => {
      const input = await toCampaignInput(draft);
      if (stored.current === undefined) {
        const { data } = await gateway.createCampaign(input, { idempotencyKey: key.current });
        stored.current = data.id;
      } else await gateway.updateCampaign({ id: stored.current, ...input });
      await addRecipients(stored.current, recipients, draft.addsCountry);
      return stored.current;
    },
    onError: () => {
      key.current = createKey();
    },
    onSuccess: onSaved,
    onSettled: () => queries.invalidateQueries({ queryKey: ["campaigns"] }),
  });
}

async function addRecipients(
  id: number,
  recipients: readonly PickedRecipient[],
  confirm_assumed: boolean,
): Promise<void> {
  if (recipients.length === 0) return;
  const leads = recipients.flatMap(({ lead }) => (lead === undefined ? [] : [lead]));
  const others = recipients.filter(({ lead }) => lead === undefined);
  const list = others.map(({ phone, variables }) => ({ phone, variables: withoutEmpty(variables) }));
  const added = leads.length > 0 ? { lead_ids: leads } : { recipients: list };
  await gateway.addRecipients({ id, confirm_assumed, ...added });
}

/** The contact's own value replaces an empty cell. */
function withoutEmpty(variables: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ""));
}
