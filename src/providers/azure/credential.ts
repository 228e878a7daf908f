// Microsoft Entra ID: tokens for an application (`TENANT_ID:CLIENT_ID:CLIENT_SECRET`), a workload
// identity, or the managed identity of the machine.
// https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
import {
  bearing,
  getFrom,
  postForm,
  readSecret,
  readToken,
  type Credential,
  type CredentialTools,
  type Lasting,
} from '../credential.ts';
import { machineKey } from '../../terms/provider-kind.ts';
import type { ProviderPlace } from '../provider.ts';

const id = '[0-9A-Za-z][0-9A-Za-z.-]{0,99}';
const application = new RegExp(`^(${id}):(${id}):(.+)$`, 's');

/** Returns null for a key of the resource. */
export function openCredential(
  apiKey: string,
  _place: ProviderPlace,
  tools: CredentialTools,
): Credential | null {
  const fetchToken = tokenSource(apiKey, tools);
  return fetchToken && bearing(fetchToken, tools);
}

function tokenSource(apiKey: string, tools: CredentialTools) {
  if (apiKey === machineKey)
    return () => {
      const { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: client, ...env } = tools.env;
      const file = env['AZURE_FEDERATED_TOKEN_FILE'];
      return tenant && client && file
        ? workloadToken(tools, { tenant, client, file })
        : managedToken(tools, client);
    };
  const [, tenant, client, secret] = application.exec(apiKey) ?? [];
  if (secret === undefined) return null;
  return () => applicationToken(tools, tenant!, { client_id: client!, client_secret: secret });
}

/** The file's token is replaced while the program runs, so it is read each time. */
async function workloadToken(
  tools: CredentialTools,
  { tenant, client, file }: Readonly<Record<'tenant' | 'client' | 'file', string>>,
): Promise<Lasting<string>> {
  const assertion = (await readSecret(tools, file, 'AZURE_FEDERATED_TOKEN_FILE')).trim();
  return applicationToken(tools, tenant, {
    client_id: client,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  });
}

async function applicationToken(
  tools: CredentialTools,
  tenant: string,
  proof: Readonly<Record<string, string>>,
): Promise<Lasting<string>> {
  const { href } = new URL(`/${tenant}/oauth2/v2.0/token`, authorityOf(tools));
  const scope = `${resourceOf(tools)}/.default`;
  const asked = { grant_type: 'client_credentials', scope, ...proof };
  return readToken(await postForm(tools, href, asked), 'Entra ID', tools);
}

/** https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token */
async function managedToken(
  tools: CredentialTools,
  client: string | undefined,
): Promise<Lasting<string>> {
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: header } = tools.env;
  // App Service and Container Apps have an endpoint of their own.
  const isHosted = Boolean(endpoint && header);
  const url = new URL(
    isHosted ? endpoint! : 'http://169.254.169.254/metadata/identity/oauth2/token',
  );
  url.searchParams.set('api-version', isHosted ? '2019-08-01' : '2018-02-01');
  url.searchParams.set('resource', resourceOf(tools));
  if (client) url.searchParams.set('client_id', client);
  const headers: Record<string, string> = isHosted
    ? { 'x-identity-header': header! }
    : { metadata: 'true' };
  return readToken(await getFrom(tools, url.href, headers), 'the managed identity', tools);
}

function authorityOf({ env }: CredentialTools): string {
  return env['AZURE_AUTHORITY_HOST'] || 'https://login.microsoftonline.com';
}

/**
 * A national cloud refuses tokens for the public one: `azure.us` goes with `login.microsoftonline.us`,
 * `azure.cn` with `login.partner.microsoftonline.cn`.
 */
function resourceOf(tools: CredentialTools): string {
  const [, country = 'com'] = /\.(us|cn)\/?$/.exec(authorityOf(tools)) ?? [];
  return `https://cognitiveservices.azure.${country}`;
}
