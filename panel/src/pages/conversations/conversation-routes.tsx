import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { instanceRoute } from "../../shell/instance-route.tsx";
import { readConversationSearch } from "./chats/conversation-search.ts";

const chats = createRoute({
  getParentRoute: () => instanceRoute,
  path: "/chats",
  validateSearch: readConversationSearch,
  component: lazyRouteComponent(() => import("./conversations-page.tsx"), "ConversationsPage"),
});
const none = createRoute({
  getParentRoute: () => chats,
  path: "/",
  component: lazyRouteComponent(() => import("./no-conversation.tsx"), "NoConversation"),
});
const chat = createRoute({
  getParentRoute: () => chats,
  path: "/$jid",
  component: lazyRouteComponent(() => import("./conversation-page.tsx"), "ConversationPage"),
});

export const conversationRoutes = [chats.addChildren([none, chat])] as const;
