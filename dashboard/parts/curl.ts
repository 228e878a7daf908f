// Requests as commands for a POSIX shell, with the key in the environment variable TOLLGATE_KEY.

type Call = {
  /** The public address, without a trailing slash. */
  readonly baseUrl: string;
  readonly path: string;
  readonly isStream: boolean;
  /** Any text, also one that is no JSON. */
  readonly body: string;
};

/** Systems limit one argument to 128 KiB; a here-document has no limit. */
const argumentBytesMax = 100_000;

/** Returns a command that sends exactly this body. */
export function curlCommand({ baseUrl, path, isStream, body }: Call): string {
  const isLong = new TextEncoder().encode(body).length > argumentBytesMax;
  return [
    ...curlHead({ baseUrl, path, isStream }),
    // Unlike -d, these read no file for a body that begins with @, and keep line breaks.
    isLong
      ? `  --data-binary @- <<'TOLLGATE_BODY'\n${body}\nTOLLGATE_BODY`
      : `  --data-raw ${shellQuote(body)}`,
  ].join('\n');
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
