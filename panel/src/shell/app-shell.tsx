import { Link, Outlet } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { useTranslations } from "use-intl";
import { useLiveEvents, useLiveState } from "../api/live-events.ts";
import { BrandMark } from "../components/brand-mark.tsx";

/** The frame of every page after the sign-in: tabs below on a phone, a rail beside on a desktop. */
export function AppShell() {
  const t = useTranslations();
  useLiveEvents();
  return (
    <div className="frame">
      <a className="skip" href="#content">
        {t("common.skip")}
      </a>
      <header className="mast">
        <Link to="/instances" className="brand">
          <BrandMark /> Waygate
        </Link>
      </header>
      <nav className="tabs" aria-label={t("shell.navigation")}>
        <Link to="/instances">
          <Icon path="M4 7h16v10H4zM8 20h8M7 10h4M7 13.5h7" /> {t("shell.instances")}
        </Link>
        <Link to="/settings">
          <Icon path="M4 8h10m4 0h2M4 16h2m4 0h10M16 5.5v5M8 13.5v5" /> {t("shell.settings")}
        </Link>
        <a href="/docs/waygate">
          <Icon path="M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM9 8h6M9 12h6" /> {t("common.guide")}
        </a>
      </nav>
      <div className="main-column">
        <ConnectionBar />
        <main id="content" className="content" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
    </div>
  );
}

function Icon({ path }: { path: string }) {
  return (
    <svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">
      <path
        d={path}
        fill="none"
        stroke="currentColor"
        strokeWidth="2.2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

/** Says when what is on show may be out of date. */
function ConnectionBar() {
  const t = useTranslations("connection");
  const live = useLiveState();
  const isOnline = useSyncExternalStore(subscribeToNetwork, () => navigator.onLine);
  if (isOnline && live !== "reconnecting") return null;
  return (
    <div className="offline" role="status">
      <p>{isOnline ? t("reconnecting") : t("offline")}</p>
    </div>
  );
}

function subscribeToNetwork(listener: () => void): () => void {
  addEventListener("online", listener);
  addEventListener("offline", listener);
  return () => {
    removeEventListener("online", listener);
    removeEventListener("offline", listener);
  };
}
