// Checks the URLs in answers of Black Forest Labs, which name where to poll and where to fetch the
// image. Polling sends the key. Only the provider's own hosts are allowed, so no forged answer can
// send us or the key elsewhere.

/** Origin and path of a URL on the provider's own hosts. */
export type ProviderAddress = { readonly origin: string; readonly path: string };

/** Its API and delivery hosts; regions have their own names, such as `api.eu.bfl.ai`. */
const providersHost = /^(?:[a-z0-9-]+\.)+bfl\.ai$/;
/** Also the rented storage that may hold finished images and takes no key. */
const deliveryHost =
  /^(?:(?:[a-z0-9-]+\.)+bfl\.ai|bfldelivery[a-z0-9]*\.blob\.core\.windows\.net)$/;

/**
 * Checks a URL to poll, which gets the key: it must be on the configured host or on `*.bfl.ai`.
 * Returns null otherwise.
 */
export function readPollingAddress(text: unknown, baseUrl: string): ProviderAddress | null {
  return readAddress(text, baseUrl, providersHost);
}

/** Checks a URL to fetch a finished image from, without a key. Returns null when it is refused. */
export function readResultAddress(text: unknown, baseUrl: string): ProviderAddress | null {
  return readAddress(text, baseUrl, deliveryHost);
}

function readAddress(text: unknown, baseUrl: string, hosts: RegExp): ProviderAddress | null {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (!url || url.username !== '' || url.password !== '') return null;
  const isConfigured = url.origin === new URL(baseUrl).origin;
  if (!isConfigured && !(url.protocol === 'https:' && url.port === '' && hosts.test(url.hostname)))
    return null;
  return { origin: url.origin, path: url.pathname + url.search };
}
