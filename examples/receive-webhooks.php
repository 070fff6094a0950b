<?php
// Receives webhooks and verifies each. Serve it with any web server, or for a try:
//   WEBHOOK_SECRET=whsec_... php -S 127.0.0.1:8080 examples/receive-webhooks.php

const TOLERANCE_SECONDS = 300;

function is_genuine(string $secret, string $id, string $sentAt, string $given, string $body): bool
{
    if (!ctype_digit($sentAt) || abs(time() - (int) $sentAt) > TOLERANCE_SECONDS) {
        return false;
    }
    $digest = hash_hmac('sha256', "$id.$sentAt.$body", key_of($secret), true);
    $expected = 'v1,' . base64_encode($digest);
    foreach (explode(' ', $given) as $one) {
        if (hash_equals($expected, $one)) {
            return true;
        }
    }
    return false;
}

/** The bytes behind whsec_; a secret of another form is used as it is. */
function key_of(string $secret): string
{
    $encoded = str_starts_with($secret, 'whsec_') ? substr($secret, 6) : $secret;
    $key = strlen($encoded) % 4 === 0 ? base64_decode($encoded, true) : false;
    return $key === false || $key === '' ? $secret : $key;
}

// The raw bytes: a body that was parsed and written anew has another signature.
$body = file_get_contents('php://input');
$genuine = is_genuine(
    getenv('WEBHOOK_SECRET') ?: throw new RuntimeException('WEBHOOK_SECRET is required.'),
    $_SERVER['HTTP_WEBHOOK_ID'] ?? '',
    $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '',
    $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '',
    $body,
);
http_response_code($genuine ? 204 : 401);
if ($genuine) {
    $event = json_decode($body, true);
    // Deliveries are at least once: keep event_id for two days, and leave out what you have handled.
    error_log("{$event['sequence']} {$event['event']} " . ($event['data']['message']['text'] ?? ''));
}
