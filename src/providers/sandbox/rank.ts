// The sandbox as a model that ranks documents: those that share words with the query come first.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Ranked } from '../rerank/host.ts';
import { wordsOf } from './embed.ts';
import { followDirectives } from './task-directives.ts';

type SandboxRanking = {
  readonly query: string;
  readonly documents: readonly string[];
  readonly signal: AbortSignal;
  readonly clock: Clock;
};

type SandboxRanked =
  | { readonly kind: 'made'; readonly made: readonly Ranked[] }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure };

/** The query may have directives. A score is the share of the query's words that a document has. */
export async function rankInSandbox(job: SandboxRanking): Promise<SandboxRanked> {
  const { query, documents, signal, clock } = job;
  const followed = await followDirectives(query, { signal, clock });
  if (followed.kind === 'failure') return followed;
  const asked = new Set(wordsOf(followed.text));
  const made = documents.map((document, index) => {
    const shared = asked.intersection(new Set(wordsOf(document)));
    return { index, score: shared.size / Math.max(asked.size, 1) };
  });
  return { kind: 'made', made };
}
