const replyLimit = {
  loop_protection: {
    label: "Impedir que dois bots respondam um ao outro",
    hint: "Pausa as respostas automáticas em uma conversa que recebe demais. Deixe ligado se não souber por que desligar.",
  },
  max_replies_per_minute: {
    label: "Máximo de respostas por minuto em uma conversa",
    hint: "De 1 a 600. No limite a conversa pausa por um minuto, depois por mais tempo.",
  },
} as const;

export const integrations = {
  integrations: {
    title: "Integrações",
    lead: "Deixe um fluxo, um bot ou uma equipe responder às mensagens desta instância.",
    own: "Seu próprio programa não precisa de integração: use um <link>webhook</link>.",
    open: "Abrir",
    setUp: "Configurar",
    state: {
      none: "Não configurada",
      off: "Desligada",
      paused: "Em pausa",
      unknown: "Ainda não testada",
      ok: "Funcionando",
      warning: "Funcionando, com um problema",
      failing: "Falhando",
      auth_error: "Recusada",
      inactive: "Ninguém escuta",
    },
    sentence: {
      none: "Não está configurada para esta instância.",
      off: "Está desligada: não recebe eventos, e a configuração fica guardada.",
      paused: "A maioria das requisições falhou, por isso o gateway espera antes da próxima.",
      unknown: "Nada foi enviado desde que foi salva. Faça o teste.",
      ok: "A última requisição deu certo.",
      warning: "A última requisição deu certo, mas algo nela não.",
      failing: "A última requisição falhou. O gateway a repete.",
      auth_error: "O outro programa recusa as credenciais. Corrija-as, e o que espera é enviado.",
      inactive: "O programa responde, mas não aceita eventos.",
    },
    pausedUntil: "Continua às {time}.",
    waiting: "{count, plural, one {# evento espera.} other {# eventos esperam.}}",
    problem: {
      dns: "Não foi possível resolver o nome do servidor. Confira o endereço, a entrada de DNS dele e o DNS do gateway.",
      refused: "O programa recusa a conexão. Inicie-o e confira o servidor e a porta do endereço dele.",
      reset: "O programa fechou a conexão sem responder. Veja o log dele.",
      tls: "A conexão segura falhou. Confira o certificado do servidor.",
      timeout_connect:
        "O servidor não aceitou a conexão a tempo. Confira se ele está no ar e deixa o gateway entrar.",
      timeout_total: "O programa demorou demais para responder. Faça-o responder antes.",
      blocked:
        "O gateway não pode chamar este endereço. Se o programa está na sua própria rede, o operador o permite com WAYGATE_ALLOWED_HOSTS.",
      invalid_url: "O endereço não é válido. Informe um endereço http ou https completo.",
      protocol:
        "Quem responde neste endereço não é um servidor web. Confira a porta, e se ela espera http ou https.",
      status: "O programa recusou a requisição.",
      n8n_starting: "O n8n está iniciando. O gateway envia o evento de novo em alguns segundos.",
      n8n_not_found:
        "O n8n está iniciando, ou o endereço não é do n8n. Se continuar, compare com a URL de produção do nó Webhook.",
      n8n_test_address:
        "Este é o endereço de teste do fluxo, que só funciona enquanto o editor escuta. Use a URL de produção.",
      n8n_inactive:
        "O fluxo não está ativo, ou o nó Webhook dele tem outro caminho ou método. Ative-o e use POST como método HTTP.",
      n8n_token:
        "O nó Webhook recusa o token, ou o endereço ou o nome do gateway. Use o mesmo token nos dois. Os eventos esperam um dia.",
      n8n_failed: "O fluxo ou a resposta dele falhou. Veja as execuções dele no n8n.",
      n8n_lost:
        "A resposta do fluxo se perdeu ou chegou tarde. Faça-o responder antes, aumente os limites de tempo, ou faça-o responder pela API.",
      typebot_not_viewer:
        "Quem responde não é um visualizador do Typebot. Informe o endereço em que os visitantes conversam com o bot.",
      typebot_builder:
        "Este é o editor do Typebot, não o visualizador. Informe o endereço em que os visitantes conversam com o bot.",
      typebot_closed: "O bot está fechado, ou recusa a mensagem.",
      typebot_token: "O visualizador recusa o token da API. As mensagens esperam um dia.",
      typebot_suspended:
        "O bot está suspenso, ou recusa as requisições deste gateway. As mensagens esperam um dia.",
      typebot_session_gone: "O bot não tem mais a sessão, e o fluxo começa de novo.",
      typebot_block: "Um bloco do fluxo falhou.",
      typebot_unpublished:
        "Não há bot publicado com este nome neste endereço. Publique-o e informe a última parte do endereço dele.",
      chatwoot_token:
        "O Chatwoot não conhece o token de acesso. Use o token do perfil de um usuário. Se estiver certo, um proxy pode estar removendo o cabeçalho `api_access_token`.",
      chatwoot_role:
        "O token de acesso está certo, mas o usuário dele não é administrador da conta no Chatwoot.",
      chatwoot_suspended: "A conta está suspensa no Chatwoot.",
      chatwoot_too_large: "O arquivo é grande demais para o Chatwoot ou para um proxy na frente dele.",
      chatwoot_identity:
        "O Chatwoot recusa contatos novos, porque a caixa de entrada tem outro token HMAC. Salve a integração de novo.",
      chatwoot_inbox_gone:
        "A caixa de entrada não existe mais no Chatwoot. Salve a integração com outra; as mensagens em espera vão para lá.",
      chatwoot_unreadable:
        "A resposta não veio do Chatwoot. O gateway envia de novo as mensagens em espera. Se continuar, confira o endereço.",
    },
    lastError: "Último problema",
    pastError: "Último problema, que já passou",
    lastSuccess: "Último sucesso <when></when>.",
    pausedChats: "Conversas com respostas demais",
    pausedChatsHelp: "As respostas automáticas pausam ali. Salvar a integração termina essas pausas.",
    before: "Primeiro, no {name}",
    guide: "Guia do {name}",
    switchOff: "Pausar",
    switchOn: "Retomar",
    switchedOff: "{name} está desligado",
    switchedOn: "{name} está ligado",
    deleteTitle: "Remover {name}?",
    deleteConfirm: "Remover a integração",
    removed: "{name} foi removido",
    groups: { connection: "Conexão", behaviour: "Comportamento", limits: "Tempos e casos especiais" },
    save: "Salvar {name}",
    saving: "Conferindo e salvando",
    saved: "{name} foi salvo",
    warnings: "Salvo, mas veja isto",
    test: {
      title: "Teste",
      n8n: "Inicia o fluxo uma vez com um evento marcado como teste. Nada vai para uma conversa.",
      typebot: "Pede uma sessão ao bot sem executar o fluxo dele.",
      chatwoot: "Confere o token, a caixa de entrada e o webhook dela, e não muda nada.",
      run: "Testar {name}",
      running: "Esperando a resposta",
      ok: "{name} funciona",
      failed: "{name} ainda não funciona",
      answered: "{name} respondeu com status {status} em {duration} ms.",
      unanswered: "{name} não respondeu.",
      details: "Detalhes da resposta",
    },
    n8n: {
      purpose: "Um fluxo inicia a cada mensagem ou outro evento, e pode responder.",
      deleteHelp:
        "O fluxo não recebe mais eventos, e os que esperam por ele são descartados. O token é esquecido. O fluxo no n8n continua lá.",
      steps: {
        one: "Importe o fluxo pronto do guia, ou adicione um nó Webhook com o método POST.",
        two: "Coloque o segredo de webhook da instância no nó Settings e ative o fluxo.",
        three: "Copie a URL de produção do nó Webhook para o formulário abaixo.",
      },
      fields: {
        ...replyLimit,
        webhook_url: {
          label: "URL de produção do fluxo",
          hint: "Do nó Webhook; ela tem /webhook/, não /webhook-test/.",
        },
        auth: {
          label: "Como o n8n reconhece o gateway",
          hint: "Como diz Authentication no nó Webhook. Sem isso, quem conhece o endereço pode iniciar o fluxo.",
        },
        token: {
          label: "Token",
          hint: "O que a credencial no n8n espera. Para Basic Auth escreva usuário:senha. Um token salvo aparece mascarado; deixe-o para mantê-lo.",
        },
        header_name: { label: "Nome do cabeçalho", hint: "O Name da credencial Header Auth." },
        reply_mode: {
          label: "Como o fluxo responde",
          hint: "A resposta dele pode ir direto para a conversa; nesse caso Respond do nó Webhook aponta para um nó posterior.",
        },
        events: { label: "Eventos", hint: "O que inicia o fluxo. Sem escolha, nada o inicia." },
        include_from_me: {
          label: "Também mensagens que a instância envia",
          hint: "Sem isso o fluxo vê só o que os outros escrevem.",
        },
        include_groups: {
          label: "Também mensagens em grupos",
          hint: "Sem isso, só conversas com uma pessoa.",
        },
        media: { label: "Arquivos das mensagens", hint: "Os links não precisam de chave e valem sete dias." },
        timeout_ms: {
          label: "Maior espera pela resposta, em milissegundos",
          hint: "De 1.000 a 60.000. Vazio: 10.000, ou 60.000 se a resposta vai para a conversa.",
        },
        retry: {
          label: "Repetir o que falhou",
          hint: "Sem isso, um evento se perde se o n8n não o aceitar na primeira vez.",
        },
      },
      choices: {
        auth: {
          none: "De nenhuma forma",
          bearer: "Authorization: Bearer e o token",
          header: "O token em um cabeçalho próprio",
          basic: "Basic Auth com usuário e senha",
          jwt: "Um JWT assinado",
        },
        reply_mode: { none: "Pela API, ou não responde", response: "A resposta dele vai para a conversa" },
        media: { url: "Como link", base64: "Também no evento, até 5 MB", none: "Sem" },
      },
    },
    typebot: {
      purpose: "Um bot conduz diálogos: perguntas, escolhas e formulários.",
      deleteHelp:
        "O bot não responde mais, os diálogos abertos em todas as conversas terminam, e as mensagens que esperam por ele são descartadas. O bot no Typebot continua lá.",
      steps: {
        one: "Monte um fluxo com uma bolha de texto e uma entrada de texto.",
        two: "Clique em Publish e depois abra Share.",
        three: "A parte do endereço antes da última barra é o visualizador, a parte depois dela é o bot.",
      },
      fields: {
        ...replyLimit,
        base_url: {
          label: "Endereço do visualizador",
          hint: "Onde as pessoas conversam com o bot, por exemplo https://bot.example.com. Não é o editor.",
        },
        public_id: {
          label: "Id público do bot",
          hint: "A última parte do endereço dele, por exemplo my-shop-x1y2z3.",
        },
        api_token: {
          label: "Token de API",
          hint: "Só se o visualizador pedir. Um token salvo aparece mascarado; deixe-o para mantê-lo.",
        },
        trigger: {
          label: "O que inicia o bot",
          hint: "As mensagens seguintes do diálogo sempre chegam a ele.",
        },
        trigger_operator: { label: "Como a palavra é comparada", hint: "Uma expressão tem a sintaxe RE2." },
        trigger_value: { label: "Palavra ou expressão", hint: "O que a pessoa escreve para iniciar o bot." },
        stop_keywords: {
          label: "Palavras que terminam o diálogo",
          hint: "Uma por linha. Maiúsculas e acentos não importam.",
        },
        restart_keywords: {
          label: "Palavras que o recomeçam",
          hint: "Uma por linha. Maiúsculas e acentos não importam.",
        },
        goodbye_message: {
          label: "Palavras no fim",
          hint: "Enviadas quando a pessoa termina o diálogo. Vazio: nada.",
        },
        unsupported_message: {
          label: "Resposta a um arquivo que o bot não usa",
          hint: "Por exemplo uma foto quando ele pede um texto. Vazio: nenhuma resposta.",
        },
        ignore_groups: {
          label: "Ficar calado em grupos",
          hint: "O bot responde só em conversas com uma pessoa.",
        },
        ignore_jids: { label: "Conversas sem o bot", hint: "Números ou endereços, um por linha." },
        pause_on_human_minutes: {
          label: "Silêncio depois que uma pessoa respondeu, em minutos",
          hint: "Pelo celular, pelo painel ou por uma caixa de entrada. 0: o bot continua.",
        },
        typing_presence: { label: "Mostrar que digita", hint: "O contato vê que o bot está digitando." },
        variables: {
          label: "Variáveis do fluxo",
          hint: "Uma por linha, “nome = valor”. Número, nome e conversa do contato são preenchidos de qualquer forma.",
        },
        session_expiry_minutes: {
          label: "Um diálogo expira depois de, em minutos",
          hint: "Sem mensagem por esse tempo, o fluxo começa de novo.",
        },
        on_end: { label: "Depois do fim do fluxo", hint: "O que faz a próxima mensagem da pessoa." },
        keep_closed_for_minutes: {
          label: "Ficar fechado, em minutos",
          hint: "Depois desse tempo uma mensagem inicia o fluxo de novo.",
        },
        debounce_ms: {
          label: "Juntar mensagens rápidas, em milissegundos",
          hint: "Espera até a pessoa parar por esse tempo. 0: cada mensagem conta sozinha.",
        },
        min_delay_ms: {
          label: "Menor tempo digitando, em milissegundos",
          hint: "Antes de cada mensagem do bot. Não mais que o maior.",
        },
        max_delay_ms: { label: "Maior tempo digitando, em milissegundos", hint: "No máximo 60.000." },
        max_wait_seconds: {
          label: "Maior bloco de espera, em segundos",
          hint: "Uma espera do fluxo é cortada aqui. No máximo 120.",
        },
      },
      choices: {
        trigger: { all: "Toda mensagem", keyword: "Certas palavras" },
        trigger_operator: {
          equals: "A mensagem é a palavra",
          contains: "A mensagem a contém",
          startsWith: "A mensagem começa com ela",
          regex: "Uma expressão",
        },
        on_end: { close: "Inicia o fluxo de novo", keep_closed: "Nada, por um tempo" },
      },
    },
    chatwoot: {
      purpose: "Uma equipe responde em uma caixa de entrada comum, com atribuição, notas e histórico.",
      deleteHelp:
        "As mensagens não entram mais na caixa, as respostas dos agentes não saem mais dela, e o que espera é descartado. O gateway remove o webhook dele do Chatwoot. A caixa e as conversas continuam lá.",
      steps: {
        one: "Adicione uma caixa de entrada do tipo API, deixe o webhook vazio e adicione os agentes.",
        two: "Abra o seu perfil como administrador e copie o token de acesso.",
        three: "O endereço das configurações da caixa mostra os dois números: accounts/2/settings/inboxes/7.",
      },
      fields: {
        url: { label: "Endereço do Chatwoot", hint: "Por exemplo https://chat.example.com." },
        access_token: {
          label: "Token de acesso de um administrador",
          hint: "Do perfil no Chatwoot. Um token salvo aparece mascarado; deixe-o para mantê-lo.",
        },
        account_id: { label: "Número da conta", hint: "Depois de /accounts/ no endereço do Chatwoot." },
        auto_create: {
          label: "Criar uma caixa para mim",
          hint: "Uma vez. Caso contrário informe o número de uma caixa que existe.",
        },
        inbox_id: {
          label: "Número da caixa de entrada",
          hint: "Depois de /inboxes/ no endereço das configurações dela.",
        },
        inbox_name: { label: "Nome da nova caixa", hint: "Os agentes o veem." },
        force: {
          label: "Tomar a caixa de outro gateway",
          hint: "Substitui o webhook que a caixa tem agora. Vale só para este salvamento.",
        },
        sent_from_phone: {
          label: "Mensagens escritas no celular",
          hint: "Como aparecem na conversa.",
        },
        reopen_conversation: {
          label: "Uma nova mensagem reabre a conversa antiga",
          hint: "Sem isso ela inicia outra depois que a antiga é resolvida.",
        },
        conversation_status: {
          label: "Uma nova conversa fica",
          hint: "As pendentes esperam por um bot ou uma regra.",
        },
        sign_messages: { label: "Assinar com o nome do agente", hint: "Em negrito antes do texto." },
        signature_delimiter: {
          label: "Entre o nome e o texto",
          hint: "\\n é uma quebra de linha.",
        },
        sync_status: {
          label: "Mostrar quando a mensagem é entregue e lida",
          hint: "A partir do Chatwoot 4.2.",
        },
        mark_read: {
          label: "Uma resposta marca as mensagens como lidas",
          hint: "O contato vê os tiques azuis quando um agente responde.",
        },
        typing: { label: "Mostrar que digita", hint: "O contato vê que um agente está digitando." },
        groups: { label: "Também mensagens em grupos", hint: "Cada grupo vira um contato." },
        ignore_jids: { label: "Conversas que ficam de fora", hint: "Números ou endereços, um por linha." },
        keep_deleted: {
          label: "Manter mensagens apagadas",
          hint: "Uma mensagem apagada no WhatsApp fica no Chatwoot, com uma nota.",
        },
        merge_brazil_contacts: {
          label: "Juntar contatos do Brasil",
          hint: "Junta os contatos com e sem o nono dígito.",
        },
        all_audio_as_voice: {
          label: "Enviar todo áudio como mensagem de voz",
          hint: "Não só as gravações dos agentes.",
        },
        files_from_url: {
          label: "Buscar anexos no endereço acima",
          hint: "Se o Chatwoot informa um endereço dele que o gateway não alcança.",
        },
      },
      choices: {
        sent_from_phone: {
          message: "Como mensagens",
          private_note: "Como notas privadas",
          off: "Não aparecem",
        },
        conversation_status: { open: "Aberta", pending: "Pendente" },
      },
    },
  },
} as const;
