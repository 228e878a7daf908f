// Signs a program on another machine in with a key, by OAuth's device flow (RFC 8628), as
// `claude /login` asks for it. There is no refresh token: the key has an end, and the user confirms
// again then.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { deviceLoginMs } from '../domain/users/device-logins.ts';
import type { Handler, ServerContext } from './context.ts';
import type { Route } from './route.ts';
import { baseUrlOf } from './server-url.ts';

const formBytesMax = 16 * 1_024;
const grant = 'urn:ietf:params:oauth:grant-type:device_code';
const intervalSeconds = 5;
/** By client address: several people may share one. */
const beginsPerMinute = 20;
const pollsPerMinute = 240;

export function deviceLoginRoutes(context: ServerContext): readonly Route[] {
  const form = { method: 'POST', auth: 'none', anyBody: true, bodyBytesMax: formBytesMax } as const;
  return [
    {
      method: 'GET',
      // RFC 8414.
      url: '/.well-known/oauth-authorization-server',
      auth: 'none',
      handler: async (request, reply) => {
        const base = baseOf(context, request);
        return unstored(reply).send({
          issuer: base,
          device_authorization_endpoint: `${base}/oauth/device_authorization`,
          token_endpoint: `${base}/oauth/token`,
          revocation_endpoint: `${base}/oauth/revoke`,
          grant_types_supported: [grant],
          response_types_supported: [],
          token_endpoint_auth_methods_supported: ['none'],
          revocation_endpoint_auth_methods_supported: ['none'],
        });
      },
    },
    { ...form, url: '/oauth/device_authorization', handler: begin(context) },
    { ...form, url: '/oauth/token', handler: poll(context) },
    { ...form, url: '/oauth/revoke', handler: revoke(context) },
  ];
}

function begin(context: ServerContext): Handler {
  const { addressRates, deviceLogins } = context;
  return async (request, reply) => {
    const { isGranted } = await addressRates.take('device logins', request.ip, beginsPerMinute);
    const asking = { program: programOf(request), address: request.ip };
    const codes = isGranted ? await deviceLogins.begin(asking) : null;
    if (!codes) return refuse(reply, 429, 'slow_down', 'Too many programs ask. Try again later.');
    const page = `${baseOf(context, request)}/device`;
    return unstored(reply).send({
      device_code: codes.deviceCode,
      user_code: codes.userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${codes.userCode}`,
      expires_in: deviceLoginMs / 1_000,
      interval: intervalSeconds,
    });
  };
}

function poll(context: ServerContext): Handler {
  return limited(context, async (form, reply) => {
    const [grantType, code] = [form.get('grant_type'), form.get('device_code')];
    if (grantType === 'refresh_token')
      return refuse(reply, 401, 'invalid_grant', 'There are no refresh tokens. Sign in again.');
    if (grantType !== grant)
      return refuse(reply, 400, 'unsupported_grant_type', `\`grant_type\` must be ${grant}.`);
    if (!code) return refuse(reply, 400, 'invalid_request', '`device_code` is missing.');
    const login = await context.deviceLogins.poll(code);
    switch (login.kind) {
      case 'open':
        return refuse(reply, 400, 'authorization_pending', 'Nobody has confirmed it yet.');
      case 'denied':
        return refuse(reply, 400, 'access_denied', 'The user has refused, or may make no keys.');
      case 'gone':
        return refuse(reply, 400, 'expired_token', 'The code is unknown, was used or has expired.');
      case 'made':
        return unstored(reply).send({
          access_token: login.key,
          token_type: 'Bearer',
          expires_in: login.lifetimeMs / 1_000,
          email: login.email,
        });
    }
  });
}

/** RFC 7009. A key that is unknown, or no program's, is not told from one that was revoked. */
function revoke(context: ServerContext): Handler {
  return limited(context, async (form, reply) => {
    const key = form.get('token');
    if (!key) return refuse(reply, 400, 'invalid_request', '`token` is missing.');
    await context.deviceLogins.revoke(key, reply.request.ip);
    return unstored(reply).send({});
  });
}

type FormHandler = (form: URLSearchParams, reply: FastifyReply) => Promise<unknown>;

/** Reads the form, unless the client's address sends too many. */
function limited({ addressRates }: ServerContext, answer: FormHandler): Handler {
  return async ({ ip, body }, reply) => {
    const { isGranted } = await addressRates.take('device polls', ip, pollsPerMinute);
    if (!isGranted) return refuse(reply, 429, 'slow_down', 'Ask less often.');
    return answer(new URLSearchParams(Buffer.isBuffer(body) ? body.toString() : ''), reply);
  };
}

function baseOf({ gateway }: ServerContext, request: FastifyRequest): string {
  return baseUrlOf(gateway.config.server.public_url, request);
}

/** Other names could pretend to be something that the user trusts. */
function programOf({ headers }: FastifyRequest): string {
  const version = /^claude-code\/(\d[\d.]{0,19})(?![\w.])/.exec(headers['user-agent'] ?? '')?.[1];
  return version === undefined ? 'A program' : `Claude Code ${version}`;
}

function unstored(reply: FastifyReply): FastifyReply {
  return reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
}

/** An error as OAuth has it (RFC 6749, 5.2). */
function refuse(reply: FastifyReply, status: number, error: string, text: string): FastifyReply {
  return unstored(reply).code(status).send({ error, error_description: text });
}
