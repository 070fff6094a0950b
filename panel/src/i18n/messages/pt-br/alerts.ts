/** What needs a person, by the key and the values of the alert. */
export const alerts = {
  alerts: {
    instance: "{name} não está mais conectada: {status}.",
    webhook: {
      disabled: "O webhook {name} está desligado porque falhou por tempo demais.",
      disabledHelp: "Conserte o programa, ligue o webhook de novo e reenvie o que ele perdeu.",
      fails: "O webhook {name} falha.",
    },
    webhookCause: {
      dns: "Não foi possível resolver o nome do servidor dele.",
      refused: "O programa dele recusa a conexão.",
      reset: "O programa dele fecha a conexão sem responder.",
      tls: "A conexão segura com o programa dele falha.",
      timeout_connect: "O servidor dele não aceita a conexão a tempo.",
      timeout_total: "O programa dele demora demais para responder.",
      blocked: "O gateway não pode chamar o endereço dele.",
      invalid_url: "O endereço dele não é válido.",
      protocol: "Quem responde no endereço dele não é um servidor web.",
      redirect: "O endereço dele redireciona (status {status}).",
      refusal: "O programa dele recusa os eventos (status {status}).",
      crash: "O programa dele responde com um erro (status {status}).",
      starting: "O n8n está iniciando e descarta os eventos.",
      unknown: "Nenhuma resposta vem do programa dele.",
    },
    webhookHelp: {
      dns: "Confira o nome do servidor no endereço e a entrada de DNS dele. Se outros webhooks também falham, confira o DNS do gateway.",
      refused: "Inicie o programa e confira o servidor e a porta do endereço.",
      reset: "Veja o log do programa ou do proxy na frente dele.",
      tls: "Confira o certificado do servidor.",
      timeout_connect: "Confira se o servidor está no ar e se o firewall dele deixa o gateway entrar.",
      timeout_total: "Faça o programa responder primeiro e trabalhar depois.",
      blocked: "Use um endereço público, ou peça ao operador que permita este com WAYGATE_ALLOWED_HOSTS.",
      invalid_url: "Informe um endereço http ou https completo.",
      protocol: "Confira a porta, e se ela espera http ou https.",
      redirect: "Informe o endereço final: o gateway não segue redirecionamentos.",
      refusal: "Confira o caminho, o segredo e os cabeçalhos, e veja o log do programa.",
      crash: "Veja o log do programa e conserte-o.",
      starting: "Espere o n8n ficar no ar. O gateway repete os eventos sozinho.",
      unknown: "A última tentativa diz o motivo.",
    },
    attention: {
      passkey_challenge:
        "O WhatsApp pede à sessão conectada a chave de acesso desta conta, que nenhum gateway pode dar. Abra o WhatsApp no telefone e siga o que ele pede. Se a sessão for encerrada, conecte a instância e vincule-a de novo.",
    },
    storage: "{percent} % do espaço para arquivos está em uso.",
    storageHelp:
      "Guarde os arquivos por menos dias ou peça um plano com mais espaço. Quando enche, arquivos novos não são guardados.",
    storageOf: "{name} usa {percent} % do seu espaço para arquivos.",
    storageOfHelp: "Reduza por quantos dias a conta guarda arquivos, ou dê a ela um plano com mais espaço.",
    queue:
      "Há tarefas atrasadas: {queue}. A mais antiga está {seconds, plural, one {# segundo} other {# segundos}} atrasada.",
    queueHelp: "Confira se há nós com este papel e se o banco de dados está rápido, ou acrescente um nó.",
    held: "O trabalho do backup restaurado está retido.",
    heldHelp: {
      none: "Libere ou descarte na visão geral.",
      release: "Você liberou. Se continuar retido, confira se há um nó com o papel worker.",
      discard: "Você descartou. Se continuar retido, confira se há um nó com o papel worker.",
    },
    node: "Nenhum nó com o papel {role} está ativo.",
    nodeHelp: "Inicie um nó com {role} em WAYGATE_ROLES.",
    advice: {
      disconnected: "Conecte-a de novo.",
      failures: "Uma mensagem em cada cinco falha, ou mais. Veja os erros das mensagens que falharam.",
      silence:
        "Nada chegou em um dia, embora ela envie. Escreva para ela de outro telefone e conecte-a de novo.",
    },
  },
} as const;
