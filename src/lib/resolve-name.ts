// Resolves names without the system's resolver. That one runs in the thread pool, which file access
// shares, so a stranger's slow name servers could block it. Names that the operator allowed use it,
// because only the system may know them (/etc/hosts, search domains).
import { lookup, Resolver } from 'node:dns/promises';

/** Returns all IPv4 and IPv6 addresses; empty or rejected when there are none. */
export type Resolve = (
  name: string,
  options: { readonly isAllowed: boolean; readonly signal: AbortSignal },
) => Promise<readonly string[]>;

/** `servers`: used instead of the machine's name servers. */
export function createResolve(servers: readonly string[] | null = null): Resolve {
  return async (name, { isAllowed, signal }) => {
    if (isAllowed) return (await lookup(name, { all: true })).map(({ address }) => address);
    const resolver = new Resolver({ timeout: 3_000, tries: 2 });
    if (servers !== null) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel);
    try {
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}
