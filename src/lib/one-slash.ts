/**
 * Returns a path of a parsed URL that browsers cannot read as another site: they take `//host` for
 * one, which `URL` makes of `/x/..//host`.
 */
export function withOneSlash(pathname: string): string {
  return pathname.replace(/^\/+/, '/');
}
