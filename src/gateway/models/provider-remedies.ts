// Remedies for failures that the operator can mend, found by words in the provider's message. The first
// match counts.

const remedies: readonly (readonly [words: RegExp, remedy: string])[] = [
  // AWS, Entra ID, Google.
  [
    /signature.{0,40}expired|not yet current|valid time range|reasonable timeframe|clock|skew/i,
    'Set the clock of this machine.',
  ],
  [/with on-demand throughput/i, 'Name an inference profile in the route, such as `global.…`.'],
  [
    /access to the model|model access|(?:deployment|Publisher Model).{0,300}(?:not exist|not found)/is,
    'Enable the model at the vendor, or correct its name in the route.',
  ],
  [
    /has not been used in project|is disabled|API.{0,20}not enabled/i,
    'Switch on its API in the project.',
  ],
  [/credential should be scoped|region/i, 'Check `region`.'],
  [/quota|RESOURCE_EXHAUSTED|too many (?:requests|tokens per)/i, 'Ask the vendor for more quota.'],
];

/** Returns null when the words are about something else. */
export function remedyFor(words: string): string | null {
  return remedies.find(([pattern]) => pattern.test(words))?.[1] ?? null;
}
