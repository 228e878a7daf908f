// Headers that carry the service's name: `service.name` of the configuration, "Service" by default.
const suffixes = {
  cost: 'Cost-Micros',
  balance: 'Balance-Cents',
  reserved: 'Reserved-Micros',
  outputLimit: 'Output-Limit',
  ignored: 'Ignored',
  /** Lists fields that the upstream does not support and the gateway emulates. */
  emulated: 'Emulated',
  mode: 'Mode',
  /** The source of an answer that was not made for this request. */
  cache: 'Cache',
  /** `not-retained`: a repeat with the Idempotency-Key will not get this answer. */
  idempotency: 'Idempotency',
  /** `estimate`: the token count is our own. */
  tokenCount: 'Token-Count',
  /** The provider that served. */
  route: 'Route',
  /** How often the request was sent upstream. */
  attempts: 'Attempts',
  /** On a request: allows the stream to report the cost in a comment. */
  streamComments: 'Stream-Comments',
  /** On a request: its tags. */
  tags: 'Tags',
};

export type HeaderNames = Readonly<Record<keyof typeof suffixes, string>>;

export function headerNamesOf(serviceName: string): HeaderNames {
  const names = Object.entries(suffixes).map(([name, suffix]) => [
    name,
    `X-${serviceName}-${suffix}`,
  ]);
  return Object.fromEntries(names) as HeaderNames;
}
