// AWS Signature Version 4, with keys of the configuration or of the machine.
// https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
import { AwsV4Signer } from 'aws4fetch';
import { awsHost } from '../../lib/aws-host.ts';
import { isObject, parseJson, objectOf } from '../../lib/json.ts';
import { machineKey } from '../../terms/provider-kind.ts';
import {
  getFrom,
  keptToken,
  noToken,
  postForm,
  readSecret,
  type Credential,
  type CredentialTools,
  type Lasting,
} from '../credential.ts';
import type { ProviderPlace } from '../provider.ts';

type Keys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

/** `ACCESS_KEY_ID:SECRET_ACCESS_KEY`, perhaps with a session token. A Bedrock key has no colon. */
const written = /^((?:AKIA|ASIA)[A-Z0-9]{12,124}):([A-Za-z0-9/+=]{16,})(?::([A-Za-z0-9/+=]+))?$/;

/** Returns null for a Bedrock API key, which is sent as it is. */
export function openCredential(
  apiKey: string,
  { region }: ProviderPlace,
  tools: CredentialTools,
): Credential | null {
  const keysOf = keySource(apiKey, tools);
  if (!keysOf) return null;
  return {
    async headersFor({ method, url, service = 'bedrock', headers, body }) {
      const { 'content-type': type = 'application/json' } = headers;
      const signed = await new AwsV4Signer({
        ...(await keysOf()),
        method,
        url: url.href,
        headers: { 'content-type': type },
        allHeaders: true,
        // The type of a buffer depends on who compiles.
        body: typeof body === 'string' ? body : new Uint8Array(body ?? []),
        region: region ?? regionOf(url),
        // It does not sign the body for S3, where TLS protects it.
        service,
        datetime: new Date(tools.clock.nowMs()).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
      }).sign();
      const { host: _, ...own } = Object.fromEntries(signed.headers);
      return { ...own, 'content-type': type };
    },
  };
}

/** `bedrock-runtime.eu-west-1.amazonaws.com` */
function regionOf({ hostname }: URL): string {
  return /\.([a-z]{2,4}(?:-[a-z]+)+-\d)\./.exec(hostname)?.[1] ?? 'us-east-1';
}

function keySource(apiKey: string, tools: CredentialTools): (() => Promise<Keys>) | null {
  if (apiKey === machineKey) return keptToken(() => machineKeys(tools), tools.clock);
  const [, accessKeyId, secretAccessKey, sessionToken] = written.exec(apiKey) ?? [];
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  const keys = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  return () => Promise.resolve(keys);
}

/** In the order of AWS's own SDKs, without files of profiles. */
async function machineKeys(tools: CredentialTools): Promise<Lasting<Keys>> {
  const { env } = tools;
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = env;
  if (id && secret) {
    const keys = { accessKeyId: id, secretAccessKey: secret };
    return { token: session ? { ...keys, sessionToken: session } : keys, endsAtMs: Infinity };
  }
  const { AWS_ROLE_ARN: role, AWS_WEB_IDENTITY_TOKEN_FILE: file } = env;
  if (role && file) return webIdentityKeys(tools, role, file);
  if (env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'] || env['AWS_CONTAINER_CREDENTIALS_FULL_URI'])
    return containerKeys(tools);
  return instanceKeys(tools);
}

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html */
async function webIdentityKeys(
  tools: CredentialTools,
  role: string,
  file: string,
): Promise<Lasting<Keys>> {
  const { env } = tools;
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1';
  const url = env['AWS_ENDPOINT_URL_STS'] ?? `https://${awsHost('sts', region)}/`;
  const asked = {
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: env['AWS_ROLE_SESSION_NAME'] ?? 'tollgate',
    WebIdentityToken: (await readSecret(tools, file)).trim(),
  };
  const reply = await postForm(tools, url, asked, { accept: 'application/json' });
  // Some gateways of STS answer XML whatever is asked for.
  const body = typeof reply.body === 'string' ? fieldsOfXml(reply.body) : flat(reply.body);
  return readKeys({ ...reply, body }, 'STS');
}

/** https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html */
async function containerKeys(tools: CredentialTools): Promise<Lasting<Keys>> {
  const { env } = tools;
  const relative = env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'];
  const url = relative
    ? `http://169.254.170.2${relative}`
    : env['AWS_CONTAINER_CREDENTIALS_FULL_URI']!;
  const file = env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'];
  const token = file
    ? (await readSecret(tools, file)).trim()
    : env['AWS_CONTAINER_AUTHORIZATION_TOKEN'];
  const headers: Record<string, string> = token ? { authorization: token } : {};
  return readKeys(await getFrom(tools, url, headers), 'the container');
}

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html */
async function instanceKeys(tools: CredentialTools): Promise<Lasting<Keys>> {
  const host = tools.env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] ?? 'http://169.254.169.254';
  const whose = 'the instance';
  const session = await tools.send({
    method: 'PUT',
    url: `${host}/latest/api/token`,
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
    body: '',
  });
  if (session.status !== 200) throw noToken(session, whose);
  const headers = { 'x-aws-ec2-metadata-token': String(session.body) };
  const roles = `${host}/latest/meta-data/iam/security-credentials/`;
  const named = await getFrom(tools, roles, headers);
  if (named.status !== 200) throw noToken(named, whose);
  const [role] = String(named.body).split('\n');
  const url = roles + encodeURIComponent(role!.trim());
  return readKeys(await getFrom(tools, url, headers), whose);
}

function readKeys(
  reply: { readonly status: number; readonly body: unknown },
  whose: string,
): Lasting<Keys> {
  const body = objectOf(reply.body);
  const { AccessKeyId: id, SecretAccessKey: secret, Token: token, SessionToken: session } = body;
  const { Expiration: ends } = body;
  if (reply.status !== 200 || typeof id !== 'string' || typeof secret !== 'string') {
    const words = body['Message'] ?? body['message'] ?? body['Code'];
    const error = typeof words === 'string' ? { error_description: words } : reply.body;
    throw noToken({ ...reply, body: error }, whose);
  }
  const sessionToken = token ?? session;
  const endsAt = typeof ends === 'number' ? ends * 1_000 : Date.parse(String(ends));
  return {
    token: {
      accessKeyId: id,
      secretAccessKey: secret,
      ...(typeof sessionToken === 'string' && { sessionToken }),
    },
    endsAtMs: Number.isNaN(endsAt) ? Infinity : endsAt,
  };
}

/** The credentials in STS's JSON, or its error. */
function flat(body: unknown): unknown {
  for (const path of [
    ['AssumeRoleWithWebIdentityResponse', 'AssumeRoleWithWebIdentityResult', 'Credentials'],
    ['Error'],
  ]) {
    let value: unknown = body;
    for (const name of path) value = isObject(value) ? value[name] : undefined;
    if (isObject(value)) return value;
  }
  return body;
}

/** STS's XML is flat and small. */
function fieldsOfXml(text: string): Readonly<Record<string, string>> {
  const parsed = parseJson(Buffer.from(text));
  if (parsed.ok) return parsed.value as Readonly<Record<string, string>>;
  const names = ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration', 'Code', 'Message'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = new RegExp(`<${name}>([^<]*)</${name}>`).exec(text.slice(0, 100_000))?.[1];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
