/**
 * Loads a page of the dashboard afresh, so that no data of an earlier session remains. Never
 * resolves.
 */
export function enter(next: string): Promise<never> {
  location.replace(next);
  return new Promise(() => {});
}

/**
 * Returns `next` if it is a path of this dashboard, else `/`: a link must not send a user to
 * another site.
 */
export function safeNext(next: string | undefined): string {
  const url = next === undefined ? null : URL.parse(next, location.origin);
  if (!next?.startsWith('/') || url?.origin !== location.origin) return '/';
  return url.pathname.replace(/^\/+/, '/') + url.search + url.hash;
}
