import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/components.css";
import "./styles/shell.css";
import "./styles/pages.css";
import "./styles/plots.css";
import "./styles/management.css";
import "./styles/forms.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./gateway/queries.ts";
import { loadMessages } from "./i18n/locales.ts";
import { applyTheme, readLocale, readTheme } from "./preferences.ts";
import { createPanelRouter } from "./router.tsx";
import { LanguageProvider } from "./shell/language-provider.tsx";

applyTheme(readTheme());
const queries = createQueryClient();
const router = createPanelRouter(queries);
const messages = await loadMessages(readLocale());

const place = document.getElementById("root");
if (place !== null) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <LanguageProvider first={messages}>
          <RouterProvider router={router} />
        </LanguageProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
