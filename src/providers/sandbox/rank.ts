// The sandbox as a model that ranks documents: those that share words with the query come first.
import type { Ranked } from '../rerank/host.ts';
import { wordsOf } from './embed.ts';
import { followDirectives, type Playing } from './task-directives.ts';

type SandboxRanking = Playing & { readonly query: string; readonly documents: readonly string[] };

/**
 * The query may have directives. A score is the share of the query's words that a document has. Throws
 * UpstreamBroken.
 */
export async function rankInSandbox(job: SandboxRanking): Promise<readonly Ranked[]> {
  const { text } = await followDirectives(job.query, job);
  const asked = new Set(wordsOf(text));
  return job.documents.map((document, index) => {
    const shared = asked.intersection(new Set(wordsOf(document)));
    return { index, score: shared.size / Math.max(asked.size, 1) };
  });
}
