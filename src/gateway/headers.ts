// The response headers that carry the service's own name: `service.name` of the configuration, "Service" unless set.

export type HeaderNames = {
  readonly cost: string;
  readonly balance: string;
  readonly reserved: string;
  readonly outputLimit: string;
  readonly ignored: string;
  readonly mode: string;
  /** Where an answer comes from, unless it was made for this request. */
  readonly cache: string;
  /** `estimate`: the count of tokens is our own. */
  readonly tokenCount: string;
  /** The provider that served. */
  readonly route: string;
  /** How often the request was sent upstream. */
  readonly attempts: string;
};

export function headerNamesOf(serviceName: string): HeaderNames {
  const name = (suffix: string) => `X-${serviceName}-${suffix}`;
  return {
    cost: name('Cost-Micros'),
    balance: name('Balance-Cents'),
    reserved: name('Reserved-Micros'),
    outputLimit: name('Output-Limit'),
    ignored: name('Ignored'),
    mode: name('Mode'),
    cache: name('Cache'),
    tokenCount: name('Token-Count'),
    route: name('Route'),
    attempts: name('Attempts'),
  };
}

const ignoredCharactersMax = 1_000;

/**
 * The value of the header that lists what was left out. Names of fields are strangers' text, and there may be thousands of them: what a
 * header cannot hold is percent-encoded, and a list that grows too long ends with how many more there are.
 */
export function writeIgnored(names: readonly string[]): string {
  let list = '';
  for (const [index, name] of names.entries()) {
    const next = (index === 0 ? '' : ', ') + encodeName(name);
    if (list.length + next.length > ignoredCharactersMax)
      return `${list}${index === 0 ? '' : ', '}and ${names.length - index} more`;
    list += next;
  }
  return list;
}

/** `messages.name` and `input[3]` stay as they are. */
function encodeName(name: string): string {
  return name
    .slice(0, ignoredCharactersMax + 1)
    .toWellFormed()
    .replaceAll(/[^\w.[\]-]/gu, encodeURIComponent);
}
