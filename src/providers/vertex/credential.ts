// Google Cloud: tokens for a service account, for a workload identity, or of the machine.
import { isObject, type JsonObject, parseJson, objectOf } from '../../lib/json.ts';
import {
  bearing,
  CredentialError,
  getFrom,
  noToken,
  postForm,
  readSecret,
  readToken,
  type Credential,
  type CredentialTools,
  type Lasting,
} from '../credential.ts';
import { machineKey } from '../../terms/provider-kind.ts';
import type { ProviderPlace } from '../provider.ts';

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const tokenAddress = 'https://oauth2.googleapis.com/token';
const stsAddress = 'https://sts.googleapis.com/v1/token';
const metadataHost = 'metadata.google.internal';

/** Returns null for an express key. */
export function openCredential(
  apiKey: string,
  _place: ProviderPlace,
  tools: CredentialTools,
): Credential | null {
  if (apiKey !== machineKey && !apiKey.trimStart().startsWith('{')) return null;
  return bearing(
    () => (apiKey === machineKey ? machineToken(tools) : pastedToken(apiKey, tools)),
    tools,
  );
}

/** https://cloud.google.com/docs/authentication/application-default-credentials */
async function machineToken(tools: CredentialTools): Promise<Lasting<string>> {
  const file = tools.env['GOOGLE_APPLICATION_CREDENTIALS'];
  if (file) return fileToken(await readSecret(tools, file), tools);
  const host = tools.env['GCE_METADATA_HOST'] || metadataHost;
  const url = `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`;
  const reply = await getFrom(tools, url, { 'metadata-flavor': 'Google' });
  return readToken(reply, 'the metadata server', tools);
}

/**
 * A document in the settings may name neither addresses nor files: whoever may change settings in a
 * browser could have any file of the machine sent anywhere.
 */
async function pastedToken(text: string, tools: CredentialTools): Promise<Lasting<string>> {
  const document = documentOf(text);
  if (document['type'] !== 'service_account')
    throw refused(
      'only the JSON of a service account can stand in `api_key`; for an external account, name its file in GOOGLE_APPLICATION_CREDENTIALS and write `ambient`',
    );
  return serviceAccountToken({ ...document, token_uri: tokenAddress }, tools);
}

async function fileToken(text: string, tools: CredentialTools): Promise<Lasting<string>> {
  const document = documentOf(text);
  switch (document['type']) {
    case 'service_account':
      return serviceAccountToken(document, tools);
    case 'external_account':
      return externalToken(document, tools);
    default:
      throw refused(
        'the file in GOOGLE_APPLICATION_CREDENTIALS is no JSON of a service account or an external account (`type`)',
      );
  }
}

function documentOf(text: string): JsonObject {
  const parsed = parseJson(Buffer.from(text));
  return parsed.ok && isObject(parsed.value) ? parsed.value : {};
}

/** https://developers.google.com/identity/protocols/oauth2/service-account#authorizingrequests */
async function serviceAccountToken(
  document: JsonObject,
  tools: CredentialTools,
): Promise<Lasting<string>> {
  const { client_email: issuer, private_key: pem, private_key_id: kid } = document;
  const { token_uri: named } = document;
  const address = typeof named === 'string' ? named : tokenAddress;
  // Only this needs the package.
  const { importPKCS8, SignJWT } = await import('jose');
  const issuedAt = Math.floor(tools.clock.nowMs() / 1_000);
  let assertion: string;
  try {
    assertion = await new SignJWT({ scope })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: String(kid) })
      .setIssuer(String(issuer))
      .setAudience(address)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + 3_600)
      // Some shells and hosts escape the line ends of a variable again.
      .sign(await importPKCS8(String(pem).replaceAll('\\n', '\n'), 'RS256'));
  } catch {
    throw refused('the `private_key` of the service account cannot be read');
  }
  const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
  const reply = await postForm(tools, address, { grant_type: grant, assertion });
  return readToken(reply, 'Google', tools);
}

/** RFC 8693, and the service account that the identity may act as. */
async function externalToken(
  document: JsonObject,
  tools: CredentialTools,
): Promise<Lasting<string>> {
  const { audience, subject_token_type: type, token_url: address = stsAddress } = document;
  const reply = await postForm(tools, String(address), {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    audience: String(audience),
    scope,
    subject_token_type: String(type),
    subject_token: await subjectToken(document, tools),
  });
  const exchanged = readToken(reply, 'Google', tools);
  const { service_account_impersonation_url: url } = document;
  if (typeof url !== 'string') return exchanged;
  const acting = await tools.send({
    method: 'POST',
    url,
    headers: { authorization: `Bearer ${exchanged.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ scope: [scope] }),
  });
  const { accessToken, expireTime } = objectOf(acting.body);
  if (acting.status !== 200 || typeof accessToken !== 'string') throw noToken(acting, 'Google');
  return { token: accessToken, endsAtMs: Date.parse(String(expireTime)) || tools.clock.nowMs() };
}

/** The identity's own token, from a file or an address of its platform. */
async function subjectToken(document: JsonObject, tools: CredentialTools): Promise<string> {
  const source = objectOf(document['credential_source']);
  const { file, url, headers, format, environment_id: environment } = source;
  if (environment !== undefined)
    throw refused(
      'an identity of AWS cannot be exchanged; use a service account, or one by OpenID Connect',
    );
  let text: unknown;
  if (typeof file === 'string') text = await readSecret(tools, file);
  else if (typeof url === 'string') {
    const sent = Object.entries(objectOf(headers)).map(
      ([name, value]) => [name.toLowerCase(), String(value)] as const,
    );
    const reply = await getFrom(tools, url, Object.fromEntries(sent));
    if (reply.status !== 200) throw noToken(reply, 'the source of the identity');
    text = reply.body;
  } else throw refused('`credential_source` names neither a `file` nor a `url`');
  if (!isObject(format) || format['type'] !== 'json') return String(text).trim();
  const { subject_token_field_name: field } = format;
  const parsed = typeof text === 'string' ? parseJson(Buffer.from(text)) : null;
  const value = parsed?.ok ? parsed.value : text;
  return isObject(value) && typeof field === 'string' ? String(value[field]) : '';
}

function refused(message: string): CredentialError {
  return new CredentialError(message, { isRefused: true });
}
