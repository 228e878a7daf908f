// Where an answer of Black Forest Labs may lead: it names the addresses to poll and to fetch from itself, and the key goes along to the
// first. Only the provider's own hosts are followed, so no answer, forged or odd, can send us or the key anywhere else.

/** Origin and path of an address on the provider's own hosts; null for any other. */
export type OwnAddress = { readonly origin: string; readonly path: string };

/** Its API and its deliveries; regions have names of their own, such as `api.eu.bfl.ai`. */
const providersHost = /^(?:[a-z0-9-]+\.)+bfl\.ai$/;
/** Finished images may lie in the storage that it rents, which takes no key. */
const deliveryHost = /^(?:(?:[a-z0-9-]+\.)+bfl\.ai|bfldelivery[a-z0-9]*\.blob\.core\.windows\.net)$/;

/** An address to poll, which the key is sent to: on the configured host, or on one of `*.bfl.ai`. */
export function readPollingAddress(text: unknown, baseUrl: string): OwnAddress | null {
  return readAddress(text, baseUrl, providersHost);
}

/** An address to fetch a finished image from, without a key. */
export function readResultAddress(text: unknown, baseUrl: string): OwnAddress | null {
  return readAddress(text, baseUrl, deliveryHost);
}

function readAddress(text: unknown, baseUrl: string, hosts: RegExp): OwnAddress | null {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (!url || url.username !== '' || url.password !== '') return null;
  const isConfigured = url.origin === new URL(baseUrl).origin;
  if (!isConfigured && !(url.protocol === 'https:' && url.port === '' && hosts.test(url.hostname))) return null;
  return { origin: url.origin, path: url.pathname + url.search };
}
