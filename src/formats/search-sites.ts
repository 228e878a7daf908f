// The sites that a search is limited to: `example.com` with its subdomains, or `example.com/blog`.
import { invalidRequest } from '../canonical/errors.ts';
import { describeValue } from '../lib/schema.ts';

type Site = { readonly host: string; readonly path: string };
/** Empty lists limit nothing. */
export type SearchSites = { readonly allowed: readonly Site[]; readonly blocked: readonly Site[] };

const sitesMax = 100;

/** Throws ApiError `invalid_request` that names the field. */
export function readSites(value: unknown, path: string): Site[] {
  const sites = value ?? [];
  if (!Array.isArray(sites) || sites.length > sitesMax)
    throw invalidRequest(path, `${path} must be a list of at most ${sitesMax} domains`);
  return sites.map((site: unknown, index) => readSite(site, `${path}[${index}]`));
}

function readSite(value: unknown, path: string): Site {
  const url = typeof value === 'string' ? URL.parse(`https://${value}`) : null;
  if (url && url.host !== '' && !/[*@:?#\s]/.test(value as string))
    return { host: url.host, path: url.pathname.replace(/\/$/, '') };
  throw invalidRequest(
    path,
    `${path} must be a domain such as example.com, without https:// and *; got ${describeValue(value)}`,
  );
}

/** Adds the allowed sites to a query, in the words that most search engines know, if all fit. */
export function querySites(query: string, sites: SearchSites | undefined, most: number): string {
  const words = (sites?.allowed ?? []).map(({ host, path }) => `site:${host}${path}`);
  const limited = [query, ...(words.length > 0 ? [words.join(' OR ')] : [])].join(' ');
  return limited.length <= most ? limited : query;
}

/** Returns true for a page that the search may find. */
export function isWithin(sites: SearchSites | undefined, address: string): boolean {
  if (!sites) return true;
  const { host, pathname } = new URL(address);
  const isAt = (site: Site) =>
    (host === site.host || host.endsWith(`.${site.host}`)) &&
    (pathname === site.path || pathname.startsWith(`${site.path}/`));
  return (sites.allowed.length === 0 || sites.allowed.some(isAt)) && !sites.blocked.some(isAt);
}
