// Failures of the operator's account or route that some providers report as 400, as if the client's request
// were at fault, or as 429, as if they would pass. They become 401, 402 or 403: another route is tried, the
// operator is told, and the client does not see the message. A model that the host does not have becomes 404.
import type { UpstreamFailure } from '../canonical/event.ts';
import { isObject, objectOf, textOf } from '../lib/json.ts';

/** How the messages begin, and the status that they deserve. */
const messages: readonly (readonly [start: RegExp, status: number])[] = [
  // Anthropic: github.com/anthropics/claude-code/issues/88711 and 91322 (read 2026-11-26).
  [/^Your credit balance is too low/, 402],
  [/^You have reached your specified API usage limits/, 402],
  [/^(?:This|Your) organization has been disabled/, 403],
  // OpenAI, for images.
  [/^Billing hard limit has been reached/, 402],
  // Alibaba: help.aliyun.com/zh/model-studio/error-code#overdue-payment (read 2026-11-26).
  [/^Access denied, please make sure your account is in good standing/, 402],
  // xAI, recorded.
  [/^Incorrect API key provided/, 401],
  // Azure, NVIDIA and LM Studio, by reports (read 2026-11-30).
  [/^API version not supported/, 404],
  [/^Function id '[^']{1,100}': DEGRADED/, 503],
  [/^No models loaded/, 503],
  // A model that is not there: DeepSeek; Mistral and Perplexity; OpenRouter; GitHub's Copilot.
  [/^Model Not Exist/, 404],
  [/^Invalid model\b/, 404],
  [/^\S{1,100} is not a valid model ID/, 404],
  [/^The requested model is not supported/, 404],
];

/**
 * As `messages`, by the error's code: Groq (console.groq.com/docs/errors and spend-limits), Together, Hugging
 * Face, Azure and Zhipu (1211); read 2026-11-30.
 */
const codes: Readonly<Record<string, number>> = {
  organization_restricted: 403,
  model_terms_required: 403,
  blocked_api_access: 402,
  model_not_found: 404,
  model_decommissioned: 404,
  model_not_available: 404,
  model_not_supported: 404,
  OperationNotSupported: 404,
  '1211': 404,
};

/**
 * Some say with 400, 412, 429 or 500 that the account is empty, as if it would pass. By the beginning of
 * the message: hosts quote the client's words further on, and one client must not take a route from all.
 * MiniMax: platform.minimax.io,
 * error code 1008. The others by reports, read 2026-11-30: xAI
 * (github.com/continuedev/continue/issues/10373), Zhipu (github.com/vercel/ai/issues/9290 and
 * continuedev/continue/issues/11823), Google (github.com/dyad-sh/dyad/issues/3626), Moonshot
 * (github.com/continuedev/continue/issues/11443), Fireworks
 * (github.com/pollinations/pollinations/issues/12136), Novita
 * (github.com/experientiallabs/experiential/pull/993).
 */
const emptyAccount = new RegExp(
  [
    '^insufficient balance.{0,20}\\(1008\\)',
    '^Your team .{1,80} has either used all available credits',
    '^Insufficient balance or no resource package',
    '^余额不足或无可用资源包',
    '^Your prepayment credits are depleted',
    '^(?:Your )?account .{1,120} is suspended',
    '^Insufficient quota available for',
    '^Your GLM Coding Plan package has expired',
  ].join('|'),
  'i',
);

/**
 * Refusals of one request, which as those of the credential would take the route out of use for all: by
 * xAI's guidelines (github.com/Wei-Shaw/sub2api/issues/4785), and by Together's limits
 * (docs.together.ai/docs/error-codes; both read 2026-11-30).
 */
const forbids =
  /^(?:Content violates usage guidelines|Generated image rejected by content moderation)/;
const refusesRequest = /^Input validation error/;

/**
 * llama.cpp calls a text that is too long for an embedding its own fault, and five of them would take the
 * route out of use (github.com/lemonade-sdk/lemonade/issues/3591, read 2026-11-30).
 */
const tooLarge = /^input .{0,40}is too large to process/;

/** `failure`: with the provider's own message. `body`: of the answer. */
export function readAccountFailure(failure: UpstreamFailure, body?: unknown): UpstreamFailure {
  if ((failure.status === 403 || failure.status === 400) && forbids.test(failure.message))
    return { ...failure, status: 400, isForbidden: true };
  if (failure.status === 403 && (refusesRequest.test(failure.message) || isModerated(body)))
    return { ...failure, status: 400 };
  // A text that came with a status of success may be a model's.
  const isSaid = failure.kind === 'status' || isObject(body);
  if (isSaid && emptyAccount.test(failure.message))
    return { ...failure, kind: 'status', status: 402 };
  if (failure.status === 500 && tooLarge.test(failure.message)) return { ...failure, status: 400 };
  if (failure.status !== 400) return failure;
  const [, said = 400] = messages.find(([start]) => start.test(failure.message)) ?? [];
  const code = textOf(objectOf(objectOf(body)['error'])['code']);
  return { ...failure, status: Object.hasOwn(codes, code) ? codes[code]! : said };
}

const noCredit: unknown[] = [
  'insufficient_quota',
  'credit_balance_exhausted',
  'billing_not_active',
  // developers.openai.com/api/docs/guides/spend-limits (read 2026-11-30)
  'organization_spend_limit_exceeded',
  'project_spend_limit_exceeded',
];

/**
 * As `readAccountFailure`, for OpenAI itself, which says with 429 that its customer has no credit.
 * Alibaba's limits a minute have the same code.
 */
export function readOpenAiFailure(failure: UpstreamFailure, body: unknown): UpstreamFailure {
  const isUnpaid =
    failure.status === 429 && noCredit.includes(objectOf(objectOf(body)['error'])['code']);
  return isUnpaid ? { ...failure, status: 402 } : readAccountFailure(failure, body);
}

/**
 * OpenRouter's moderation refuses a prompt with 403, as if the credential were at fault, which would
 * take the route out of use for all (openrouter.ai/docs/api-reference/errors, from memory).
 */
function isModerated(body: unknown): boolean {
  const error = objectOf(body)['error'];
  const metadata = objectOf(error)['metadata'];
  return isObject(metadata) && Array.isArray(metadata['reasons']) && 'flagged_input' in metadata;
}
