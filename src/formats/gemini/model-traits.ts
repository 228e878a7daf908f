// What a model generation accepts, derived from the model id: the catalogue has no field for it,
// and a wrong guess is a refused request. Levels from tetsuo-ai/agenc-core#2393 (each probed,
// 2026-09-11); sampling and prefill from langchain-ai/langchain-google#1897; penalties from
// google-gemini/cookbook#1290; budgets from ai.google.dev/gemini-api/docs/thinking.
import type { Effort } from '../../canonical/request.ts';

export type ModelTraits = {
  /** How thinking is configured. Gemini refuses a request with both. */
  readonly thinking:
    | { readonly kind: 'level'; readonly levels: readonly Effort[] }
    | ThinkingBudgets;
  /**
   * True when temperature, top_p and top_k have an effect. Later models are announced to refuse
   * them.
   */
  readonly sampling: boolean;
  readonly penalties: boolean;
  /** True when the conversation may end with the model's own words, which it continues. */
  readonly prefill: boolean;
  /** True when a call in the history must carry its thought signature. */
  readonly checksSignatures: boolean;
  /** True when tool results may contain images and documents. */
  readonly mediaInResults: boolean;
  readonly schemaWithTools: boolean;
};

export type ThinkingBudgets = {
  readonly kind: 'budget';
  readonly min: number;
  readonly max: number;
  readonly canBeOff: boolean;
};

/**
 * Example: `modelTraits('gemini-2.5-flash-lite')`: budgets from 512 to 24 576 tokens, may be off;
 * temperature and prefill, no penalties.
 */
export function modelTraits(upstreamModel: string): ModelTraits {
  const version = readVersion(upstreamModel);
  const isFlash = upstreamModel.includes('flash');
  const isLite = upstreamModel.includes('lite');
  const hasFixedSampling = version >= 306 || (version === 305 && isLite);
  const isThird = version >= 300;
  return {
    thinking: isThird
      ? {
          kind: 'level',
          levels: [
            ...(isFlash && (isLite || version <= 306) ? (['minimal'] as const) : []),
            ...levels,
            ...(takesXhigh.test(upstreamModel) ? (['xhigh'] as const) : []),
          ],
        }
      : thinkingBudgets({ isFlash, isLite }),
    sampling: !hasFixedSampling,
    penalties: version < 205,
    prefill: !hasFixedSampling,
    checksSignatures: isThird,
    mediaInResults: isThird,
    schemaWithTools: isThird,
  };
}

const levels: readonly Effort[] = ['low', 'medium', 'high'];
/** From npm `@earendil-works/pi-ai` 1.6 (read 2026-11-28): Argon and Carbon do not. */
const takesXhigh = /gemini-4-(?:hydrogen|neon)/;

function thinkingBudgets({
  isFlash,
  isLite,
}: {
  isFlash: boolean;
  isLite: boolean;
}): ThinkingBudgets {
  if (!isFlash) return { kind: 'budget', min: 128, max: 32_768, canBeOff: false };
  return { kind: 'budget', min: isLite ? 512 : 1, max: 24_576, canBeOff: true };
}

/**
 * Examples: `gemini-3.5-flash-lite` → 305, `gemini-4-argon` → 400. An id without a number
 * (`gemini-flash-latest`) is the newest.
 */
function readVersion(id: string): number {
  const match = /gemini-(\d{1,2})(?:\.(\d{1,2}))?(?!\d)/.exec(id);
  return match ? Number(match[1]) * 100 + Number(match[2] ?? 0) : Number.POSITIVE_INFINITY;
}
