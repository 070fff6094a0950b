// Receives webhooks, verifies each and prints one line per event; nothing but the standard library.
//
//	WEBHOOK_SECRET=whsec_... PORT=8080 go run examples/receive-webhooks.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const toleranceSeconds = 300

type event struct {
	EventID  string `json:"event_id"`
	Event    string `json:"event"`
	Sequence int64  `json:"sequence"`
	Data     struct {
		Message *struct {
			Text *string `json:"text"`
		} `json:"message"`
	} `json:"data"`
}

func isGenuine(secret string, headers http.Header, body []byte) bool {
	sentAt := headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, keyOf(secret))
	fmt.Fprintf(mac, "%s.%s.", headers.Get("webhook-id"), sentAt)
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, given := range strings.Split(headers.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(expected), []byte(given)) {
			return true
		}
	}
	return false
}

// keyOf returns the bytes behind whsec_; a secret of another form is used as it is.
func keyOf(secret string) []byte {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return []byte(secret)
	}
	return key
}

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if secret == "" {
		log.Fatal("WEBHOOK_SECRET is required: the secret of the webhook.")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		// The raw bytes: a body that was parsed and written anew has another signature.
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))
		if err != nil || !isGenuine(secret, request.Header, body) {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		response.WriteHeader(http.StatusNoContent)
		// Deliveries are at least once: keep EventID for two days, and leave out what you have handled.
		var received event
		if err := json.Unmarshal(body, &received); err != nil {
			log.Print(err)
			return
		}
		text := ""
		if received.Data.Message != nil && received.Data.Message.Text != nil {
			text = *received.Data.Message.Text
		}
		fmt.Println(received.Sequence, received.Event, text)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
