import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { instanceRoute } from "../../shell/instance-route.tsx";

const chats = createRoute({
  getParentRoute: () => instanceRoute,
  path: "/chats",
  component: lazyRouteComponent(() => import("./conversations-page.tsx"), "ConversationsPage"),
});
const chat = createRoute({
  getParentRoute: () => instanceRoute,
  path: "/chats/$jid",
  component: lazyRouteComponent(() => import("./conversation-page.tsx"), "ConversationPage"),
});

export const conversationRoutes = [chats, chat] as const;
