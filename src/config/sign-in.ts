// Settings of the dashboard's sign-in: the mail server and the identity provider, completed from
// the environment.
import type { Environment, FieldValues } from './field-values.ts';
import type { Config, ConfigFile, OidcConfig, SmtpConfig } from './schema.ts';
import { ConfigError } from './config-error.ts';
import { webAddressProblem } from './web-address.ts';
import { isLoopback } from './unencrypted.ts';
import { withoutTrailing } from '../lib/without-trailing.ts';

/** Returns null when no mail server is configured. Throws ConfigError. */
export function resolveSmtp({ fields, faultAt }: FieldValues, env: Environment): SmtpConfig | null {
  const url = env['SMTP_URL'] || fields.smtp?.url;
  const from = env['SMTP_FROM'] || fields.smtp?.from;
  if (url === undefined) return null;
  const field = env['SMTP_URL'] ? 'SMTP_URL' : ['smtp', 'url'];
  if (!isMailAddress(url)) {
    throw faultAt(field, {
      problem:
        'must be like smtp://user:password@host:587 or smtps://user:password@host:465; got something else (not shown, it may hold a password)',
      remedy: 'Write a password with special characters percent-encoded: %40 for an @.',
    });
  }
  const { protocol, port } = new URL(url);
  if ((port === '465' && protocol === 'smtp:') || (port === '587' && protocol === 'smtps:'))
    throw faultAt(field, {
      problem: 'must begin with smtps:// for port 465, and with smtp:// for port 587',
      remedy: 'Port 465 is encrypted from the start; port 587 switches to TLS.',
    });
  if (from === undefined || !/[^\s@<>]@[^\s@<>]+>?$/u.test(from)) {
    throw faultAt('SMTP_FROM', {
      problem: 'must be the address that e-mails come from, beside SMTP_URL',
      remedy: 'Set it to an address such as no-reply@example.com, or write `smtp.from`.',
    });
  }
  return { url, from };
}

/** Returns null when users sign in with passwords only. Throws ConfigError. */
export function resolveOidc({ fields, faultAt }: FieldValues, env: Environment): OidcConfig | null {
  const given = fromEnvironment(fields.oidc, env);
  if (given === null) return null;
  const problem =
    webAddressProblem(given.issuer) ??
    (isPrivateEnough(given.issuer) ? null : 'must begin with https://; got http://');
  // Other programs ask for the address of the discovery.
  const issuer = given.issuer.replace(/\/\.well-known\/openid-configuration$/, '');
  if (problem === null) return { ...given, issuer: withoutTrailing(issuer, '/') };
  throw faultAt(env['OIDC_ISSUER'] ? 'OIDC_ISSUER' : ['oidc', 'issuer'], {
    problem,
    remedy:
      'Write the address that the provider calls its issuer, such as `https://accounts.google.com`.',
  });
}

const environmentNames = {
  issuer: 'OIDC_ISSUER',
  client_id: 'OIDC_CLIENT_ID',
  client_secret: 'OIDC_CLIENT_SECRET',
} as const;

function fromEnvironment(entry: ConfigFile['oidc'], env: Environment): OidcConfig | null {
  const set = Object.values(environmentNames).filter((name) => env[name]);
  if (!entry && set.length === 0) return null;
  const pick = (field: keyof typeof environmentNames) =>
    env[environmentNames[field]] || entry?.[field] || missing(environmentNames[field]);
  return {
    issuer: pick('issuer'),
    client_id: pick('client_id'),
    client_secret: pick('client_secret'),
    name: env['OIDC_NAME'] || entry?.name || 'single sign-on',
    scopes: entry?.scopes ?? ['openid', 'email', 'profile'],
    trust_email: entry?.trust_email ?? false,
  };
}

function missing(name: string): never {
  throw new ConfigError({
    field: name,
    problem: 'must be set beside the other OIDC variables',
    remedy: `Set ${Object.values(environmentNames).join(', ')}, or unset all of them.`,
  });
}

/** Over plain http, anyone on the network path can read the session's cookie. */
export function plainHttpWarnings({
  host,
  public_url: publicUrl,
  trust_proxy: trustsProxy,
}: Config['server']): string[] {
  const isPlain =
    publicUrl === null ? !isLoopback(host) && trustsProxy === false : !isPrivateEnough(publicUrl);
  if (!isPlain) return [];
  return [
    'The dashboard is reached over plain http: passwords and sessions can be read on the way. Put it behind https and set server.public_url.',
  ];
}

function isMailAddress(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && (url.protocol === 'smtp:' || url.protocol === 'smtps:') && url.hostname !== ''
  );
}

function isPrivateEnough(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || isLoopback(hostname);
}
