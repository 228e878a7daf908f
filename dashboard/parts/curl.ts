// Requests as commands for a POSIX shell, with the key in the environment variable TOLLGATE_KEY.

type Call = {
  /** The public address, without a trailing slash. */
  readonly baseUrl: string;
  readonly path: string;
  readonly isStream: boolean;
  /** Any text, also one that is no JSON. */
  readonly body: string;
};

/** Systems limit one argument of a program to 128 KiB, but not what the shell itself prints. */
const argumentBytesMax = 100_000;

/**
 * Returns a command that sends exactly this body. Unlike `-d`, its options read no file for a body that
 * begins with @, and keep line breaks.
 */
export function curlCommand({ baseUrl, path, isStream, body }: Call): string {
  const head = curlHead({ baseUrl, path, isStream });
  const quoted = shellQuote(body);
  const lines =
    new TextEncoder().encode(quoted).length > argumentBytesMax
      ? [`printf %s ${quoted} |`, ...head, '  --data-binary @-']
      : [...head, `  --data-raw ${quoted}`];
  return lines.join('\n');
}

/** Returns the lines before the body. */
export function curlHead({ baseUrl, path, isStream }: Omit<Call, 'body'>): readonly string[] {
  return [
    `curl${isStream ? ' -N' : ''} ${baseUrl}${path} \\`,
    `  -H "Authorization: Bearer $TOLLGATE_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
  ];
}

export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
