// The straight path for a request: the client's body with the fields that the gateway decides.
import { isObject, type JsonObject } from '../../lib/json.ts';
import { destinationOf } from '../destination.ts';
import { droppedFields } from '../field-verdicts.ts';
import type { ClientRequest, UpstreamRequest, UpstreamTarget } from '../format.ts';
import {
  leaveOutFields,
  leaveOutProbabilities,
  refusedSampling,
  takesStops,
} from '../model-abilities.ts';
import { callsOneByOne, fitKnownEffort, refusesVerbosity } from '../openai-models.ts';
import { relayHistory } from './foreign-history.ts';
import { hostTable } from './host-fields.ts';
import { readAllowedTools, readStopSequences } from './read-request.ts';
import { leaveOutUnsent } from './optional-tools.ts';
import type { ChatRequest } from './schema.ts';
import { outputLimitField } from './output-limit.ts';
import { withFittedNames } from '../tool-names.ts';
import { renameTools, toolNames } from './relay-tool-names.ts';
import { relaySchemas } from './relay-tools.ts';
import { tierField } from '../service-tiers.ts';
import { pairMessages, repairMessages } from './repair-messages.ts';
import { refuseUnshareable } from './shared-credential.ts';

/** Throws ApiError on what a shared credential must not pass. */
export function relayRequest(
  { body: clientBody }: ClientRequest<ChatRequest>,
  target: UpstreamTarget,
): UpstreamRequest {
  const { isOpenAi, prefill } = target;
  const { body: lean, leftOut } = leaveOutUnsent(clientBody, target);
  const body = refuseUnshareable(lean, destinationOf(target));
  // From entries, because assigning `__proto__` would lose it.
  const upstream: Record<string, unknown> = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null && !decidedHere.has(name)),
  );
  upstream.model = target.model;
  const ignored = new Set(leftOut);
  if (body.store === true) ignored.add('store');
  leaveOutFields(upstream, dropped, ignored);
  fitToModel(upstream, body, target, ignored);
  if (!isOpenAi) Object.assign(upstream, offerAllowed(body));
  upstream[outputLimitField(target)] = target.maxOutputTokens;
  if (target.stream) {
    upstream.stream = true;
    const options = isObject(body.stream_options) ? body.stream_options : null;
    upstream.stream_options = { ...options, include_usage: true };
  }
  // Hosts that do not know `store` may refuse it, so it is added only for OpenAI.
  if (typeof body.store === 'boolean') upstream.store = false;
  Object.assign(upstream, relayStop(body), tierField(target));
  const history = relayHistory(body.messages, target, ignored);
  const messages = repairMessages(pairMessages(history), target);
  upstream.messages = messages;
  const fitted = relaySchemas(upstream, target, ignored);
  return {
    ...withFittedNames(body, { written: fitted, renameTools, rule: toolNames }),
    ignored: [...ignored],
    ...(prefill?.path !== undefined &&
      messages.at(-1)?.[prefill.mark] === true && {
        at: { path: prefill.path, isAtOrigin: true },
      }),
  };
}

/** Leaves out what the model refuses. Throws ApiError when that would change the answer. */
function fitToModel(
  upstream: Record<string, unknown>,
  { reasoning_effort: asked }: ChatRequest,
  target: UpstreamTarget,
  ignored: Set<string>,
): void {
  const effort = asked ? fitKnownEffort(asked, target.model) : null;
  const isHonoured = asked === 'none' && !target.thinking;
  if (effort && target.thinking) upstream.reasoning_effort = effort;
  else leaveOutFields(upstream, ['reasoning_effort'], isHonoured ? new Set() : ignored);
  leaveOutProbabilities(upstream, ['logprobs', 'top_logprobs', 'logit_bias'], effort, target);
  leaveOutFields(upstream, refusedSampling(effort, target), ignored);
  if (target.isOpenAi && callsOneByOne(target.model))
    leaveOutFields(upstream, ['parallel_tool_calls'], ignored);
  if (target.isOpenAi && refusesVerbosity(upstream.verbosity, target.model))
    leaveOutFields(upstream, ['verbosity'], ignored);
}

/** Only OpenAI knows a choice among some of the tools: to others, only these are offered. */
function offerAllowed({ tools, tool_choice: choice }: ChatRequest): JsonObject {
  if (!isObject(choice) || !('allowed_tools' in choice)) return {};
  const { mode, names } = readAllowedTools(choice);
  const isAllowed = ({ function: called }: JsonObject) =>
    isObject(called) && names.has(called.name);
  return { tools: tools?.filter(isAllowed), tool_choice: mode };
}

/** True when the host takes the stop sequences and all tools, so that nothing must be emulated. */
export function canRelay({ body }: ClientRequest<ChatRequest>, target: UpstreamTarget): boolean {
  const takesTools = target.isOpenAi || !hasCustomTools(body);
  return takesTools && takesStops(readStopSequences(body.stop), target);
}

function hasCustomTools({ tools, messages }: ChatRequest): boolean {
  const isCustom = ({ type }: { readonly type: string }) => type === 'custom';
  return (
    tools?.some(isCustom) ||
    messages.some((message) => 'tool_calls' in message && message.tool_calls?.some(isCustom))
  );
}

/** Drops empty stop sequences, and the field when none is left. */
function relayStop({ stop }: ChatRequest): JsonObject {
  const sequences = readStopSequences(stop);
  if (sequences.length === 0) return {};
  return { stop: typeof stop === 'string' ? stop : sequences };
}

const decidedHere = new Set(
  'model max_tokens max_completion_tokens stream stream_options store stop service_tier'.split(' '),
);

/** `metadata` among them: OpenAI accepts it only for stored answers. */
const dropped = droppedFields(hostTable);
