const replyLimit = {
  loop_protection: {
    label: "Stop two bots from answering each other",
    hint: "Pauses automatic replies in a chat that gets too many. Leave it on unless you know why not.",
  },
  max_replies_per_minute: {
    label: "Most replies a minute in one chat",
    hint: "From 1 to 600. At the limit the chat pauses for a minute, then for longer.",
  },
} as const;

export const integrations = {
  integrations: {
    title: "Integrations",
    lead: "Let a workflow, a bot or a team reply to the messages of this instance.",
    own: "Your own program needs no integration: use a <link>webhook</link>.",
    open: "Open",
    setUp: "Set up",
    state: {
      none: "Not set up",
      off: "Off",
      paused: "Paused",
      unknown: "Not tried yet",
      ok: "Working",
      warning: "Working, with a problem",
      failing: "Failing",
      auth_error: "Refused",
      inactive: "Nobody listens",
    },
    sentence: {
      none: "It is not set up for this instance.",
      off: "It is off: it gets no events, and its configuration is kept.",
      paused: "Most requests failed, so the gateway waits before the next one.",
      unknown: "Nothing was sent since it was saved. Test it.",
      ok: "The last request succeeded.",
      warning: "The last request succeeded, but something in it did not.",
      failing: "The last request failed. The gateway repeats it.",
      auth_error: "The other program refuses the credentials. Correct them, and what waits is sent.",
      inactive: "The program answers, but does not accept events.",
    },
    pausedUntil: "It goes on at {time}.",
    waiting: "{count, plural, one {# event waits.} other {# events wait.}}",
    problem: {
      dns: "The host name of its address could not be resolved. Check the address, its DNS entry and the DNS of the gateway.",
      refused: "The program refuses the connection. Start it, and check host and port of its address.",
      reset: "The program closed the connection without an answer. Read its log.",
      tls: "The secure connection failed. Check the certificate of the host.",
      timeout_connect:
        "The host did not accept a connection in time. Check that it is up and lets the gateway in.",
      timeout_total: "The program took too long to answer. Let it answer sooner.",
      blocked:
        "The gateway may not call this address. If the program runs in your own network, the operator allows it with WAYGATE_ALLOWED_HOSTS.",
      invalid_url: "The address is not valid. Enter a complete http or https address.",
      protocol:
        "What answers at this address is not a web server. Check the port, and whether it expects http or https.",
      status: "The program refused the request.",
      n8n_starting: "n8n is starting. The gateway sends the event again in a few seconds.",
      n8n_not_found:
        "n8n is starting, or the address does not belong to n8n. If this continues, compare it with the production URL of the Webhook node.",
      n8n_test_address:
        "This is the test address of the workflow, which works only while its editor listens. Use the production URL.",
      n8n_inactive:
        "The workflow is not active, or its Webhook node has another path or method. Activate it, and set its HTTP Method to POST.",
      n8n_token:
        "The Webhook node refuses the token, or the address or the name of the gateway. Give both the same token. Events wait for one day.",
      n8n_failed: "The workflow or its answer has failed. See its executions in n8n.",
      n8n_lost:
        "The answer of the workflow was lost or came too late. Let it answer sooner, raise the time limits, or let it reply through the API.",
      typebot_not_viewer:
        "What answers is not a Typebot viewer. Enter the address under which visitors chat with the bot.",
      typebot_builder:
        "This is the builder of Typebot, not the viewer. Enter the address under which visitors chat with the bot.",
      typebot_closed: "The bot is closed, or it refuses the message.",
      typebot_token: "The viewer refuses the API token. Messages wait for one day.",
      typebot_suspended:
        "The bot is suspended, or it refuses requests of this gateway. Messages wait for one day.",
      typebot_session_gone: "The bot no longer has the session, so the flow starts again.",
      typebot_block: "A block of the flow has failed.",
      typebot_unpublished:
        "There is no published bot with this name at this address. Publish it, and enter the last part of its address.",
      chatwoot_token:
        "Chatwoot does not know the access token. Use the token of a user's profile. If it is right, a proxy may drop its header `api_access_token`.",
      chatwoot_role:
        "The access token is right, but its user is not an administrator of the account in Chatwoot.",
      chatwoot_suspended: "The account is suspended in Chatwoot.",
      chatwoot_too_large: "The file is too large for Chatwoot or for a proxy in front of it.",
      chatwoot_identity:
        "Chatwoot refuses new contacts, because the inbox has another HMAC token than before. Save the integration again.",
      chatwoot_inbox_gone:
        "The inbox no longer exists in Chatwoot. Save the integration with another inbox; the waiting messages then go there.",
      chatwoot_unreadable:
        "The answer did not come from Chatwoot. The gateway sends waiting messages again. If this continues, check the address.",
    },
    lastError: "Last problem",
    pastError: "Last problem, which is over",
    lastSuccess: "Last success <when></when>.",
    pausedChats: "Chats with too many replies",
    pausedChatsHelp: "Automatic replies pause there. Saving the integration ends these pauses.",
    before: "First, in {name}",
    guide: "Guide for {name}",
    switchOff: "Pause",
    switchOn: "Resume",
    switchedOff: "{name} is off",
    switchedOn: "{name} is on",
    deleteTitle: "Remove {name}?",
    deleteConfirm: "Remove the integration",
    removed: "{name} is removed",
    groups: { connection: "Connection", behaviour: "Behaviour", limits: "Times and special cases" },
    save: "Save {name}",
    saving: "Checking and saving",
    saved: "{name} is saved",
    warnings: "Saved, but look at this",
    test: {
      title: "Test",
      n8n: "Starts the workflow once with an event that is marked as a test. Nothing is sent to a chat.",
      typebot: "Asks the bot for a session without running its flow.",
      chatwoot: "Checks the token, the inbox and its webhook, and changes nothing.",
      run: "Test {name}",
      running: "Waiting for the answer",
      ok: "{name} works",
      failed: "{name} does not work yet",
      answered: "{name} answered with status {status} after {duration} ms.",
      unanswered: "{name} did not answer.",
      details: "Details of the answer",
    },
    n8n: {
      purpose: "A workflow starts on each message or other event, and can reply.",
      deleteHelp:
        "The workflow gets no more events, and events that wait for it are discarded. The token is forgotten. The workflow in n8n stays.",
      steps: {
        one: "Import the ready workflow from the guide, or add a Webhook node with the method POST.",
        two: "Enter the webhook secret of the instance in the node Settings, and activate the workflow.",
        three: "Copy the production URL of the Webhook node into the form below.",
      },
      fields: {
        ...replyLimit,
        webhook_url: {
          label: "Production URL of the workflow",
          hint: "From the Webhook node; it has /webhook/ in it, not /webhook-test/.",
        },
        auth: {
          label: "How n8n recognises the gateway",
          hint: "As the Authentication of the Webhook node says. Without it, everyone who knows the address can start the workflow.",
        },
        token: {
          label: "Token",
          hint: "What the credential in n8n expects. For Basic Auth write user:password. A saved token is shown masked; leave it to keep it.",
        },
        header_name: { label: "Name of the header", hint: "The Name of the Header Auth credential." },
        reply_mode: {
          label: "How the workflow replies",
          hint: "Its response can go straight to the chat; set Respond of the Webhook node to a later node then.",
        },
        events: { label: "Events", hint: "What starts the workflow. Without a choice nothing does." },
        include_from_me: {
          label: "Also messages that the instance sends",
          hint: "Otherwise the workflow sees only what others write.",
        },
        include_groups: { label: "Also messages in groups", hint: "Otherwise only chats with one person." },
        media: { label: "Files of messages", hint: "Links need no key and are valid for seven days." },
        timeout_ms: {
          label: "Longest wait for the answer, in milliseconds",
          hint: "From 1,000 to 60,000. Empty: 10,000, or 60,000 if the response goes to the chat.",
        },
        retry: {
          label: "Repeat what failed",
          hint: "Without it, an event is lost if n8n does not take it the first time.",
        },
      },
      choices: {
        auth: {
          none: "Not at all",
          bearer: "Authorization: Bearer and the token",
          header: "The token in a header of its own",
          basic: "Basic Auth with user and password",
          jwt: "A signed JWT",
        },
        reply_mode: { none: "Through the API, or not at all", response: "Its response is sent to the chat" },
        media: { url: "As a link", base64: "Also in the event, up to 5 MB", none: "Without" },
      },
    },
    typebot: {
      purpose: "A bot holds dialogues: questions, choices and forms.",
      deleteHelp:
        "The bot replies no more, its open dialogues in all chats end, and messages that wait for it are discarded. The bot in Typebot stays.",
      steps: {
        one: "Build a flow with a text bubble and a text input.",
        two: "Press Publish, then open Share.",
        three:
          "The part of the shown address before the last slash is the viewer, the part after it is the bot.",
      },
      fields: {
        ...replyLimit,
        base_url: {
          label: "Address of the viewer",
          hint: "Where visitors chat with the bot, for example https://bot.example.com. It is not the builder.",
        },
        public_id: {
          label: "Public id of the bot",
          hint: "The last part of its address, for example my-shop-x1y2z3.",
        },
        api_token: {
          label: "API token",
          hint: "Only if the viewer asks for one. A saved token is shown masked; leave it to keep it.",
        },
        trigger: { label: "What starts the bot", hint: "Further messages of the dialogue always reach it." },
        trigger_operator: { label: "How the word is compared", hint: "An expression has RE2 syntax." },
        trigger_value: { label: "Word or expression", hint: "What a person writes to start the bot." },
        stop_keywords: {
          label: "Words that end the dialogue",
          hint: "One per line. Case and accents make no difference.",
        },
        restart_keywords: {
          label: "Words that begin it again",
          hint: "One per line. Case and accents make no difference.",
        },
        goodbye_message: {
          label: "Words at the end",
          hint: "Sent when a person ends the dialogue. Empty: nothing.",
        },
        unsupported_message: {
          label: "Reply to a file that the bot cannot use",
          hint: "For example a picture when it asks for a text. Empty: no reply.",
        },
        ignore_groups: {
          label: "Stay silent in groups",
          hint: "The bot replies only in chats with one person.",
        },
        ignore_jids: { label: "Chats without the bot", hint: "Numbers or addresses, one per line." },
        pause_on_human_minutes: {
          label: "Silence after a person replied, in minutes",
          hint: "From the phone, the panel or an inbox. 0: the bot goes on.",
        },
        typing_presence: { label: "Show typing", hint: "The contact sees that the bot is typing." },
        variables: {
          label: "Variables of the flow",
          hint: "One per line, “name = value”. Number, name and chat of the contact are filled in anyway.",
        },
        session_expiry_minutes: {
          label: "A dialogue expires after, in minutes",
          hint: "Without a message for this long, the flow begins again.",
        },
        on_end: { label: "After the end of the flow", hint: "What the next message of the person does." },
        keep_closed_for_minutes: {
          label: "Stay closed, in minutes",
          hint: "After this time a message starts the flow again.",
        },
        debounce_ms: {
          label: "Join quick messages, in milliseconds",
          hint: "Waits until the person pauses for this long. 0: each message counts alone.",
        },
        min_delay_ms: {
          label: "Shortest typing time, in milliseconds",
          hint: "Before each message of the bot. Not more than the longest.",
        },
        max_delay_ms: { label: "Longest typing time, in milliseconds", hint: "At most 60,000." },
        max_wait_seconds: {
          label: "Longest wait block, in seconds",
          hint: "A wait of the flow is cut to this. At most 120.",
        },
      },
      choices: {
        trigger: { all: "Every message", keyword: "Certain words" },
        trigger_operator: {
          equals: "The message is the word",
          contains: "The message contains it",
          startsWith: "The message begins with it",
          regex: "An expression",
        },
        on_end: { close: "It starts the flow again", keep_closed: "Nothing, for a while" },
      },
    },
    chatwoot: {
      purpose: "A team replies in a shared inbox with assignment, notes and history.",
      deleteHelp:
        "Messages no longer enter the inbox, replies of agents no longer leave it, and what waits is discarded. The gateway removes its webhook from Chatwoot. The inbox and its conversations stay.",
      steps: {
        one: "Add an inbox of the kind API, leave its webhook address empty, and add your agents.",
        two: "Open your profile as an administrator and copy the access token.",
        three: "The address of the settings of the inbox shows both numbers: accounts/2/settings/inboxes/7.",
      },
      fields: {
        url: { label: "Address of Chatwoot", hint: "For example https://chat.example.com." },
        access_token: {
          label: "Access token of an administrator",
          hint: "From the profile in Chatwoot. A saved token is shown masked; leave it to keep it.",
        },
        account_id: { label: "Number of the account", hint: "After /accounts/ in the address of Chatwoot." },
        auto_create: {
          label: "Make an inbox for me",
          hint: "Once. Otherwise enter the number of an inbox that exists.",
        },
        inbox_id: { label: "Number of the inbox", hint: "After /inboxes/ in the address of its settings." },
        inbox_name: { label: "Name of the new inbox", hint: "Agents see it." },
        force: {
          label: "Take the inbox over from another gateway",
          hint: "Replaces the webhook that the inbox has now. It applies to this save only.",
        },
        sent_from_phone: {
          label: "Messages written on the phone",
          hint: "How they appear in the conversation.",
        },
        reopen_conversation: {
          label: "A new message opens the old conversation",
          hint: "Otherwise it starts a new one after the old one is resolved.",
        },
        conversation_status: {
          label: "A new conversation is",
          hint: "Pending ones wait for a bot or a rule.",
        },
        sign_messages: { label: "Sign with the name of the agent", hint: "In bold before the text." },
        signature_delimiter: {
          label: "Between name and text",
          hint: "\\n is a line break.",
        },
        sync_status: { label: "Show when a message is delivered and read", hint: "From Chatwoot 4.2 on." },
        mark_read: {
          label: "A reply marks messages as read",
          hint: "The contact sees blue ticks when an agent replies.",
        },
        typing: { label: "Show typing", hint: "The contact sees that an agent is typing." },
        groups: { label: "Also messages in groups", hint: "Each group becomes one contact." },
        ignore_jids: { label: "Chats that stay out", hint: "Numbers or addresses, one per line." },
        keep_deleted: {
          label: "Keep deleted messages",
          hint: "A message deleted on WhatsApp stays in Chatwoot, with a note.",
        },
        merge_brazil_contacts: {
          label: "Join Brazilian contacts",
          hint: "Joins the contacts with and without the ninth digit.",
        },
        all_audio_as_voice: {
          label: "Send all sound as voice notes",
          hint: "Not only recordings of agents.",
        },
        files_from_url: {
          label: "Fetch attachments from the address above",
          hint: "If Chatwoot names an address of itself that the gateway cannot reach.",
        },
      },
      choices: {
        sent_from_phone: { message: "As messages", private_note: "As private notes", off: "Not at all" },
        conversation_status: { open: "Open", pending: "Pending" },
      },
    },
  },
} as const;
