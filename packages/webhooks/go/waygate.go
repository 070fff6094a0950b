// Package waygate verifies the webhooks of Waygate with nothing but the standard library. Go 1.19 or newer; copy this file.
//
//	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))
//	if err != nil || !waygate.Verify(secret, request.Header, body, time.Now()) {
//		response.WriteHeader(http.StatusUnauthorized)
//		return
//	}
package waygate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// ToleranceSeconds is the largest age, or lead, of a request.
	ToleranceSeconds = 300
	maxHeaderLength  = 4096
)

var (
	idPattern        = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
	secondsPattern   = regexp.MustCompile(`^[0-9]{1,12}$`)
	signaturePattern = regexp.MustCompile(`v1,([A-Za-z0-9+/]{43}=)`)
	base64Pattern    = regexp.MustCompile(`^[A-Za-z0-9+/]+={0,2}$`)
)

// Verify tells whether a request is from the gateway. body is the raw bytes that arrived.
func Verify(secret string, header http.Header, body []byte, now time.Time) bool {
	id, sentAt := read(header, "Webhook-Id"), read(header, "Webhook-Timestamp")
	if !idPattern.MatchString(id) || !secondsPattern.MatchString(sentAt) {
		return false
	}
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	age := now.Unix() - seconds
	if err != nil || age > ToleranceSeconds || age < -ToleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, keyOf(secret))
	mac.Write([]byte(id + "." + sentAt + "."))
	mac.Write(body)
	expected := []byte(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, found := range signaturePattern.FindAllStringSubmatch(read(header, "Webhook-Signature"), -1) {
		if hmac.Equal([]byte(found[1]), expected) {
			return true
		}
	}
	return false
}

// read returns the value of a header, repeated ones joined; it is empty if the header is absent or too long.
func read(header http.Header, name string) string {
	joined := strings.Join(header.Values(name), " ")
	if len(joined) > maxHeaderLength {
		return ""
	}
	return joined
}

// keyOf returns the bytes behind whsec_; a secret of another form is used as it is.
func keyOf(secret string) []byte {
	encoded := strings.TrimPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !base64Pattern.MatchString(encoded) {
		return []byte(secret)
	}
	return key
}
