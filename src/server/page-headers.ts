// Headers of every HTML page of the gateway. A page loads only the gateway's own files.

type PageOrigins = {
  /** Beside the gateway's own style sheets, such as `'nonce-…'`. */
  readonly styles?: readonly string[];
  /** Beside the gateway's own images. */
  readonly images?: readonly string[];
  /** Left out: it plays nothing. */
  readonly media?: readonly string[];
};

export function pageHeaders({
  styles = [],
  images = [],
  media = [],
}: PageOrigins): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      ['style-src', "'self'", ...styles].join(' '),
      ['img-src', "'self'", 'data:', ...images].join(' '),
      ...(media.length > 0 ? [['media-src', ...media].join(' ')] : []),
      "connect-src 'self'",
      "font-src 'self'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
  };
}
