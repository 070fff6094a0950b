// The first-message story through the generated client: prints what it saw as one line of JSON.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	api "waygate"
)

type delivery struct {
	header http.Header
	body   []byte
}

type event struct {
	Event string `json:"event"`
}

type message struct {
	MessageId string `json:"message_id"`
	Text      string `json:"text"`
	Direction string `json:"direction"`
}

type refusal struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
}

type result struct {
	InstanceId       int64     `json:"instance_id"`
	MessageId        string    `json:"message_id"`
	Delivered        string    `json:"delivered"`
	IsGenuine        bool      `json:"is_genuine"`
	IsChangedGenuine bool      `json:"is_changed_genuine"`
	Messages         []message `json:"messages"`
	Events           []string  `json:"events"`
	Refusal          refusal   `json:"refusal"`
}

func main() {
	url, deliveries := startReceiver()
	configuration := api.NewConfiguration()
	configuration.Servers = api.ServerConfigurations{{URL: os.Getenv("WAYGATE_BASE_URL")}}
	client := api.NewAPIClient(configuration)

	login := api.NewLoginRequest(os.Getenv("WAYGATE_EMAIL"), os.Getenv("WAYGATE_PASSWORD"))
	signedIn, _, err := client.AccountAPI.Login(context.Background()).LoginRequest(*login).Execute()
	check(err)
	owner := context.WithValue(context.Background(), api.ContextAccessToken, signedIn.Token)

	request := api.NewCreateInstanceRequest("Go")
	request.SetNetwork("sandbox")
	created, _, err := client.InstancesAPI.CreateInstance(owner).CreateInstanceRequest(*request).Execute()
	check(err)
	id := created.Data.Id

	keys := map[string]api.APIKey{"apiKey": {Key: created.Data.ApiKey}}
	ctx := context.WithValue(context.Background(), api.ContextAPIKeys, keys)
	scan := api.NewSandboxScanRequest()
	scan.SetPhone(os.Getenv("WAYGATE_TEST_PHONE"))
	_, _, err = client.SandboxAPI.SandboxScan(ctx, id).SandboxScanRequest(*scan).Execute()
	check(err)
	waitForConnection(ctx, client, id)

	webhookRequest := api.NewCreateWebhookRequest(url)
	webhook, _, err := client.WebhooksAPI.CreateWebhook(ctx, id).CreateWebhookRequest(*webhookRequest).Execute()
	check(err)
	text := api.NewSendTextRequest()
	text.SetNumber(os.Getenv("WAYGATE_TEST_RECIPIENT"))
	text.SetText("Hello from Go")
	sent, _, err := client.MessagesAPI.SendText(ctx, id).SendTextRequest(*text).Execute()
	check(err)

	found := result{InstanceId: id, MessageId: sent.Data.MessageId}
	found.waitForEvent("message.sent", webhook.Data.GetSecret(), deliveries)
	found.list(ctx, client, id)
	check(json.NewEncoder(os.Stdout).Encode(found))
}

func startReceiver() (string, <-chan delivery) {
	deliveries := make(chan delivery, 100)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(listener, http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		check(err)
		deliveries <- delivery{request.Header, body}
	}))
	return fmt.Sprintf("http://%s/", listener.Addr()), deliveries
}

func waitForConnection(ctx context.Context, client *api.APIClient, id int64) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		status, _, err := client.InstancesAPI.GetInstanceStatus(ctx, id).Execute()
		check(err)
		if status.Data.Connected {
			return
		}
		if time.Now().After(deadline) {
			log.Fatal("The instance does not connect.")
		}
	}
}

func (found *result) waitForEvent(name, secret string, deliveries <-chan delivery) {
	timeout := time.After(time.Minute)
	for {
		select {
		case one := <-deliveries:
			var any event
			check(json.Unmarshal(one.body, &any))
			if any.Event != name {
				continue
			}
			var sent api.MessageSentEvent
			check(json.Unmarshal(one.body, &sent))
			found.Delivered = sent.Data.Message.MessageId
			found.IsGenuine = verify(secret, one.header, one.body)
			found.IsChangedGenuine = verify(secret, one.header, append(one.body, ' '))
			return
		case <-timeout:
			log.Fatal("The webhook receives no " + name + ".")
		}
	}
}

// list reads the messages and events, and sends a message that the gateway refuses.
func (found *result) list(ctx context.Context, client *api.APIClient, id int64) {
	messages, _, err := client.ChatsAPI.ListMessages(ctx, id).Limit(5).Execute()
	check(err)
	for _, one := range messages.Data {
		found.Messages = append(found.Messages, message{one.MessageId, one.GetText(), one.Direction})
	}
	events, _, err := client.WebhooksAPI.ListEvents(ctx, id).Event("message.sent").Execute()
	check(err)
	for _, one := range events.Data {
		found.Events = append(found.Events, one.Event)
	}
	text := api.NewSendTextRequest()
	text.SetNumber("12")
	text.SetText("Hello")
	_, response, err := client.MessagesAPI.SendText(ctx, id).SendTextRequest(*text).Execute()
	var failure *api.GenericOpenAPIError
	if !errors.As(err, &failure) {
		log.Fatalf("The gateway does not refuse the number: %v", err)
	}
	check(json.Unmarshal(failure.Body(), &found.Refusal))
	found.Refusal.Status = response.StatusCode
}

func check(err error) {
	if failure, ok := err.(*api.GenericOpenAPIError); ok {
		log.Fatalf("%s: %s", failure.Error(), failure.Body())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// verify checks the signature of Standard Webhooks, of a request that has just arrived.
func verify(secret string, header http.Header, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	check(err)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header.Get("webhook-id") + "." + header.Get("webhook-timestamp") + "."))
	mac.Write(body)
	return header.Get("webhook-signature") == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
