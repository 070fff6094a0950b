<?php
// Verifies the webhooks of Waygate with nothing but PHP 8.0 or newer; copy this file.
//
//   if (!\Waygate\Webhooks\verify($secret, $_SERVER, file_get_contents('php://input'))) {
//       http_response_code(401);
//       exit;
//   }

declare(strict_types=1);

namespace Waygate\Webhooks;

const MAX_HEADER_LENGTH = 4096;

/**
 * Tells whether a request is from the gateway; nothing that a request contains throws.
 *
 * $headers: $_SERVER, or the values by name in any case, also several per name; $body: the raw bytes.
 */
function verify(string $secret, array $headers, string $body, int $toleranceSeconds = 300, ?int $now = null): bool
{
    $id = read_header($headers, 'webhook-id');
    $sentAt = read_header($headers, 'webhook-timestamp');
    // \z and not $, which also matches before a line break at the end.
    if (!preg_match('/\A[A-Za-z0-9_-]{1,128}\z/', $id) || !preg_match('/\A[0-9]{1,12}\z/', $sentAt)) {
        return false;
    }
    if (abs(($now ?? time()) - (int) $sentAt) > $toleranceSeconds) {
        return false;
    }
    $expected = base64_encode(hash_hmac('sha256', "$id.$sentAt.$body", key_of($secret), true));
    preg_match_all('#v1,([A-Za-z0-9+/]{43}=)#', read_header($headers, 'webhook-signature'), $signatures);
    foreach ($signatures[1] as $one) {
        if (hash_equals($expected, $one)) {
            return true;
        }
    }
    return false;
}

/** The value of a header, repeated ones joined; empty if it is absent or too long. */
function read_header(array $headers, string $name): string
{
    $texts = [];
    foreach ($headers as $key => $value) {
        // HTTP_WEBHOOK_ID in $_SERVER is webhook-id.
        $known = preg_replace('/^http-/', '', strtolower(str_replace('_', '-', (string) $key)));
        if ($known === $name) {
            array_push($texts, ...array_values(array_filter((array) $value, 'is_string')));
        }
    }
    $joined = implode(' ', $texts);
    return strlen($joined) <= MAX_HEADER_LENGTH ? $joined : '';
}

/** The bytes behind whsec_; a secret of another form is used as it is. */
function key_of(string $secret): string
{
    $encoded = str_starts_with($secret, 'whsec_') ? substr($secret, strlen('whsec_')) : $secret;
    $isBase64 = preg_match('#\A[A-Za-z0-9+/]+={0,2}\z#', $encoded) && strlen($encoded) % 4 === 0;
    return $isBase64 ? base64_decode($encoded) : $secret;
}
