// Warns of unencrypted connections that expose prompts, credentials or the ledger.
import type { Environment } from './field-values.ts';
import type { Config } from './schema.ts';

/** One warning for each enabled provider that is reached over plain http on another machine. */
export function plainProviderWarnings(providers: Config['providers']): string[] {
  return Object.entries(providers).flatMap(([name, { enabled, base_url: baseUrl }]) => {
    const url = enabled && baseUrl !== null ? URL.parse(baseUrl) : null;
    if (url?.protocol !== 'http:' || isLoopback(url.hostname)) return [];
    return [
      `The provider ${name} is reached over plain http: its key, and all that is sent, can be read on the way. Give it an https base_url.`,
    ];
  });
}

/** Values of `sslmode` (in the URL or PGSSLMODE) with which pg encrypts. */
const encryptingModes = new Set(['prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']);

/** Never quotes the URL, which may contain a password. */
export function plainDatabaseWarnings(databaseUrl: string, env: Environment): string[] {
  if (!/^postgres(?:ql)?:/u.test(databaseUrl)) return [];
  const { hostname, searchParams } = new URL(databaseUrl);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  // A path is a socket on this machine.
  if (host === '' || host.startsWith('/') || isLoopback(host)) return [];
  const mode =
    searchParams.get('sslmode') ??
    (['true', '1'].includes(searchParams.get('ssl') ?? '') ? 'require' : env['PGSSLMODE']);
  if (mode !== undefined && encryptingModes.has(mode)) return [];
  return [
    'PostgreSQL is on another machine and is spoken to without TLS: the books can be read and changed on the way. Add sslmode=verify-full to database.url.',
  ];
}

/** `host`: a name or an address, also in the brackets of a URL. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/u, '$1');
  return (
    bare === 'localhost' ||
    bare.endsWith('.localhost') ||
    bare === '::1' ||
    /^127(?:\.\d{1,3}){3}$/u.test(bare)
  );
}
