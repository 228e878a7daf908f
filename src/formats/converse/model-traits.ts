// What the models of a vendor accept on Bedrock, derived from the model's id there: Converse has one
// form for all, and a field of their own for the rest.
import { isMistral } from '../call-ids.ts';
import { claudeTraits, type ClaudeTraits } from '../claude-traits.ts';

export type ModelTraits = {
  /** null: not Claude. */
  readonly claude: ClaudeTraits | null;
  /**
   * Where the prompt may be marked for the cache. Nova keeps it for five minutes, and refuses marks among
   * tools and right behind their results. null: nowhere.
   */
  readonly cacheMarks: 'claude' | 'nova' | null;
  /** Where reasoning is asked for; null: nowhere, or as Claude wants it. */
  readonly reasoning: 'nova' | 'gpt' | 'gpt-oss' | null;
  /** Where `top_k` goes; null: nowhere. */
  readonly topK: 'claude' | 'nova' | null;
  /** Which call can be forced: one of a named tool, or any; null: none. */
  readonly forces: 'named' | 'any' | null;
  /** Calls have ids of nine letters and digits. */
  readonly hasShortIds: boolean;
};

export function modelTraits(model: string): ModelTraits {
  const vendor = model.includes('claude') ? 'claude' : /\bnova\b/.test(model) ? 'nova' : null;
  return {
    claude: vendor === 'claude' ? claudeTraits(model) : null,
    cacheMarks: vendor,
    reasoning: reasoningOf(model),
    topK: vendor,
    forces: forcesOf(model),
    hasShortIds: isMistral(model),
  };
}

function reasoningOf(model: string): ModelTraits['reasoning'] {
  if (/\bnova-[2-9]/.test(model)) return 'nova';
  if (model.includes('gpt-oss')) return 'gpt-oss';
  return /\bopenai\.gpt-[5-9]/.test(model) ? 'gpt' : null;
}

/**
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolChoice.html and
 * github.com/langchain-ai/langchain-aws/issues/620 and 1278 (read 2026-11-30). Models that neither names can.
 */
function forcesOf(model: string): ModelTraits['forces'] {
  if (isMistral(model)) return /(?:mistral|pixtral)-large/.test(model) ? 'any' : null;
  return /\b(?:meta|cohere|ai21|writer)\./.test(model) ? null : 'named';
}

/** What of a model holds for its tools and their results. */
export function toolTraits({ cacheMarks }: ModelTraits): Pick<ModelTraits, 'cacheMarks'> {
  return { cacheMarks: cacheMarks === 'nova' ? null : cacheMarks };
}
