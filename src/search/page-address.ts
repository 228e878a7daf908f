// The address of a found page: whether it may be shown, whose it is, and which others mean the same page.
import { withoutTrailing } from '../lib/without-trailing.ts';

export type PageAddress = {
  readonly url: string;
  /** The host without `www.`. */
  readonly source: string;
  /** The same for addresses that differ only in what makes no other page. */
  readonly key: string;
};

const charactersMax = 8_000;
const trackingParameters = /^(?:utm_.*|gclid|fbclid|msclkid)$/i;

/** null: it is no address of the web. */
export function readPageAddress(text: string): PageAddress | null {
  const written = text.trim();
  const url = written.length > charactersMax ? null : URL.parse(written);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return {
    // As it was found, unless a reader would need to repair it.
    url: /^https?:\/\/[^\s\p{Cc}\\]+$/u.test(written) ? written : url.href,
    source: url.hostname.replace(/^www\./u, ''),
    key: keyOf(url),
  };
}

/**
 * Parsing has made the host lower-case and dropped its default port. Besides, the same page is meant with http and https, with and
 * without a slash at the end, a fragment, and parameters that only say where a visitor came from.
 */
function keyOf(url: URL): string {
  const parameters = [...url.searchParams].filter(([name]) => !trackingParameters.test(name));
  return `${url.host}${withoutTrailing(url.pathname, '/')}?${new URLSearchParams(parameters).toString()}`;
}
