// The address of a found page: its validity, its host, and a key for detecting duplicates.
import { withoutTrailing } from '../../lib/without-trailing.ts';

type PageAddress = {
  readonly url: string;
  /** The host without `www.`. */
  readonly source: string;
  /** Equal for addresses of the same page. */
  readonly key: string;
};

const charactersMax = 8_000;
const trackingParameters = /^(?:utm_.*|gclid|fbclid|msclkid)$/i;

/** Returns null for anything but an http or https address. */
export function readPageAddress(text: string): PageAddress | null {
  const written = text.trim();
  const url = written.length > charactersMax ? null : URL.parse(written);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return {
    // Unchanged, unless it contains characters that need encoding.
    url: /^https?:\/\/[^\s\p{Cc}\\]+$/u.test(written) ? written : url.href,
    source: url.hostname.replace(/^www\./u, ''),
    key: keyOf(url),
  };
}

/**
 * Parsing already lower-cases the host and drops a default port. The key also ignores the scheme, a
 * trailing slash, the fragment, and tracking parameters.
 */
function keyOf(url: URL): string {
  const parameters = [...url.searchParams].filter(([name]) => !trackingParameters.test(name));
  return `${url.host}${withoutTrailing(url.pathname, '/')}?${new URLSearchParams(parameters).toString()}`;
}
