// A request for a moderation, by the input token. Most models of that type are free, and still limited,
// recorded and tried at their routes.
import { parseModerationRequest } from '../../domain/moderations/moderation-request.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import { moderates, readModerations, type Moderated } from '../../providers/moderations/index.ts';
import { moderateInSandbox } from '../../providers/registry.ts';
import { findModel } from '../admission/permitted-model.ts';
import type { Endpoint } from '../stages.ts';
import {
  currentPrice,
  deliverOneCall,
  factsOf,
  taskRoutes,
  unitPrice,
  type OneCall,
} from './one-call.ts';
import { saleOfUnits } from './units.ts';

/** Throws ApiError 400 or 404. */
export const moderationEndpoint: Endpoint = (gateway, { body, caller }) => {
  const { key, record } = caller;
  const request = parseModerationRequest(body);
  record.note({ askedModel: request.model });
  const model = findModel(gateway, key, request.model, 'moderation');
  const routes = taskRoutes(gateway, { model, key }, ({ kind }) => moderates(kind.kind) || null);
  const { judged, input, ignored } = request;
  const texts = judged.map(({ text }) => text);
  const { upper, likely } = estimateInputTokens(texts);
  const facts = {
    ...factsOf(model, routes, request.body),
    prompt: () => texts.join('\n'),
    tokens: likely,
  };
  return saleOfUnits(facts, () => {
    const price = currentPrice(gateway, { model, key });
    const most = unitPrice(price);
    const task: OneCall<true, readonly Moderated[]> = {
      gateway,
      caller,
      model,
      routes,
      price,
      countMax: upper,
      ownCount: likely,
      write: ({ chosen: { upstreamModel } }) => ({
        path: '/moderations',
        body: { model: upstreamModel, input },
      }),
      read(answer) {
        const made = readModerations(answer);
        return made?.length === judged.length
          ? { made, count: null }
          : 'the answer does not have a result for each input';
      },
      play: (signal) => moderateInSandbox({ judged, signal, clock: gateway.clock }),
      answer: (results) => ({ id: newIdWithPrefix('modr'), model: model.id, results }),
      ignoredAt: () => ignored,
    };
    const units = {
      endpoint: 'moderations',
      modelName: model.displayName,
      unit: { one: 'input token', many: 'input tokens', counted: 'token' },
      count: upper,
      most,
      likelyPicos: most.upstreamPicos * BigInt(likely),
      countField: null,
    } as const;
    return { units, deliver: (signals) => deliverOneCall(task, signals) };
  });
};
