export const pairing = {
  pairing: {
    qr_expired: {
      message: "Nenhum telefone concluiu a conexão enquanto os códigos QR eram mostrados.",
      action: "Conecte de novo e escaneie o código que for mostrado. Se o telefone disser que não pôde conectar o aparelho, remova um em Aparelhos conectados, ou espere uma hora e tente outra vez.",
    },
    code_expired: {
      message: "O código de conexão não foi digitado no telefone em 180 segundos.",
      action: "Conecte de novo com o mesmo número e digite o código novo logo.",
    },
    code_withdrawn: {
      message: "O WhatsApp retirou o código de conexão.",
      action: "Conecte de novo para obter outro código, ou conecte por QR.",
    },
    wrong_code: {
      message: "O código digitado no telefone não é o que foi mostrado, ou era antigo demais.",
      action: "Digite o código mostrado agora. Se nenhum for mostrado, conecte de novo.",
    },
    number_refused: {
      message: "O WhatsApp não aceita este número para um código de conexão.",
      action: "Confira o código do país e o DDD, por exemplo 5511999990004, e se o WhatsApp deste telefone tem este número. Se não, conecte por QR.",
    },
    code_forbidden: {
      message: "O WhatsApp não permite que este número se conecte por código.",
      action: "Conecte por QR.",
    },
    rate_limited: {
      message: "O WhatsApp não aceita mais códigos de conexão nem conexões por algum tempo, porque foram pedidos demais.",
      action: "Espere até {time}, ou conecte por QR se era um código. Pedir mais nesse meio-tempo aumenta a espera.",
    },
    pairing_unavailable: {
      message: "O WhatsApp não deu nenhum código de conexão.",
      action: "Tente de novo em alguns minutos, ou conecte por QR.",
    },
    link_not_completed: {
      message: "O telefone aceitou o código, mas não concluiu a conexão: o código foi digitado errado, ou o telefone chegou ao limite de aparelhos conectados.",
      action: "Olhe o telefone. Se ele disser que o código está errado, digite de novo; se não, remova um aparelho em Aparelhos conectados. Conecte de novo quando nenhum código for mostrado.",
    },
    phone_refused: {
      message: "O telefone usou um código QR ou de conexão que não vale mais, e a conexão foi recusada.",
      action: "Escaneie ou digite o código mostrado agora. Se nenhum for mostrado, conecte de novo.",
    },
    not_stored: {
      message: "O telefone aceitou, mas o gateway não pôde guardar a conexão no banco de dados.",
      action: "Se o telefone mostrar o aparelho em Aparelhos conectados, remova-o lá. Conecte de novo quando o banco de dados funcionar; `/health` mostra isso.",
    },
    passkey_expired: {
      message: "A confirmação com a chave de acesso não chegou enquanto o WhatsApp esperava por ela.",
      action: "Conecte de novo, escaneie o código novo e assine o desafio logo.",
    },
    passkey_no_answer: {
      message: "A chave de acesso foi aceita, mas o telefone não se conectou. Ele pode ter chegado ao limite de aparelhos conectados, ou o WhatsApp limita conexões novas por algumas horas.",
      action: "Remova um aparelho em Aparelhos conectados no telefone e conecte de novo. Se não ajudar, espere um dia.",
    },
    passkey_not_confirmed: {
      message: "A confirmação de que o telefone mostra o mesmo código não chegou a tempo.",
      action: "Conecte de novo, e confirme quando os dois códigos forem iguais.",
    },
    passkey_failed: {
      message: "O WhatsApp ou o telefone interrompeu a confirmação com a chave de acesso.",
      action: "Conecte de novo e comece do início. Se acontecer outra vez, atualize o Waygate.",
    },
    passkey_cancelled: {
      message: "A confirmação com a chave de acesso foi cancelada.",
      action: "Conecte de novo para vincular.",
    },
    passkey_interrupted: {
      message: "A conexão terminou enquanto o WhatsApp esperava a chave de acesso.",
      action: "Conecte de novo, escaneie o código novo e assine o desafio logo.",
    },
    client_outdated: {
      message: "O WhatsApp não aceita mais esta versão do cliente web.",
      action: "Atualize o Waygate, ou ponha em WAYGATE_WHATSAPP_VERSION a versão atual e reinicie.",
    },
    connection_failed: {
      message: "Não foi possível chegar ao WhatsApp, ou ele encerrou a conexão antes de um telefone ser conectado.",
      action: "Confira a rede e o proxy (da instância, ou WAYGATE_EGRESS_PROXY), e conecte de novo.",
    },
  },
} as const;
