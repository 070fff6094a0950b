import { useState } from "react";
import { useTranslations } from "use-intl";
import { FormDialog } from "../../../components/dialogs/form-dialog.tsx";
import { FormField } from "../../../components/fields/form-field.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import type { Message } from "../conversation-queries.ts";
import type { BodyProps, ComposeProps, MessageKind, Outgoing } from "./message-kind.ts";

interface Place {
  latitude: number;
  longitude: number;
  name: string | null;
  address: string | null;
}

const placeOf = ({ location }: Message) => location as Place | null;

export const locationKind: MessageKind = {
  types: ["location"],
  Body: LocationBody,
  summarise: (message, t) => [t("kinds.location"), placeOf(message)?.name].filter(Boolean).join(": "),
  resend: (message) => postPlace(placeOf(message)),
  Compose: LocationForm,
};

function postPlace(place: Place | null): Outgoing["post"] {
  const { latitude = 0, longitude = 0, name, address } = place ?? {};
  const labels = { ...(name && { name }), ...(address && { address }) };
  return (target, call) => gateway.sendLocation({ ...target, latitude, longitude, ...labels }, call);
}

function LocationBody({ message }: BodyProps) {
  const t = useTranslations("conversations");
  const place = placeOf(message);
  if (place === null) return null;
  const at = `${place.latitude},${place.longitude}`;
  return (
    <div>
      <strong>{place.name ?? t("kinds.location")}</strong>
      {place.address && <p>{place.address}</p>}
      <p className="code">{at.replace(",", ", ")}</p>
      <a
        href={`https://www.openstreetmap.org/?mlat=${place.latitude}&mlon=${place.longitude}`}
        target="_blank"
        rel="noreferrer noopener"
      >
        {t("kinds.openMap")}
      </a>
    </div>
  );
}

function LocationForm({ onSend }: ComposeProps) {
  const t = useTranslations("conversations.compose");
  const [error, setError] = useState<Error | null>(null);
  const submit = async (fields: Partial<Record<string, string>>) => {
    const { latitude = "", longitude = "", name = "", address = "" } = fields;
    const [lat, long] = [latitude, longitude].map((text) => Number(text.replace(",", ".")));
    if (!isWithin(lat, 90) || !isWithin(long, 180)) {
      setError(new Error());
      throw new Error("not a place on the earth");
    }
    const place = { latitude: lat, longitude: long, name: name || null, address: address || null };
    onSend({ shown: name || `${lat}, ${long}`, post: postPlace(place) });
  };
  return (
    <FormDialog
      label={t("location")}
      title={t("locationTitle")}
      submitLabel={t("send")}
      onSubmit={submit}
      mutation={{ isPending: false, error: null, reset: () => setError(null) }}
    >
      {error && (
        <p className="field-error" role="alert">
          {t("locationWrong")}
        </p>
      )}
      <FormField name="latitude" label={t("latitude")} maxLength={20} />
      <FormField name="longitude" label={t("longitude")} maxLength={20} />
      <FormField name="name" label={t("placeName")} maxLength={1000} isOptional />
      <FormField name="address" label={t("address")} maxLength={1000} isOptional />
    </FormDialog>
  );
}

function isWithin(value: number | undefined, limit: number): value is number {
  return value !== undefined && Number.isFinite(value) && Math.abs(value) <= limit;
}
