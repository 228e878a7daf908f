// The sign-in library keeps the state of a sign-in at the provider in one cookie. Here each sign-in has
// a cookie of its own, so that one that is begun in another tab does not end it.

const shared = 'tollgate.state=';

function ownName(state: string): string {
  return `tollgate.state_${state.slice(0, 8)}=`;
}

/** Renames the library's cookie in lines for `Set-Cookie`. */
export function withOwnState(cookies: readonly string[], state: string): readonly string[] {
  return cookies.map((line) => line.replace(shared, () => ownName(state)));
}

/** Renames the cookie of this state in a `Cookie` header, for the library. */
export function withSharedState(cookie: string, state: string): string {
  return cookie.replace(ownName(state), shared);
}
