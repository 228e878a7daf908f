// Amazon Bedrock's Converse, for upstreams; no client speaks it.
import { readBilledAnswer } from '../billed-answer.ts';
import type { UpstreamFormat } from '../format.ts';
import { isObject } from '../../lib/json.ts';
import { inputCount } from './count-tokens.ts';
import { messageOf, readAnswer } from './read-answer.ts';
import { readStream } from './read-stream.ts';
import { toolNames } from './tools.ts';
import { readUsage } from './usage.ts';
import { writeRequest } from './write-request.ts';

export const converse: UpstreamFormat = {
  name: 'converse',
  toolNames,
  writeRequest,
  // It has no field for a user or a cache.
  hideUsers: (body) => body,
  // Open models reason unasked.
  mayThink: () => true,
  readAnswer,
  readBilledAnswer: (body) =>
    readBilledAnswer(
      isObject(body) ? { ...body, content: messageOf(body)?.['content'] } : body,
      'content',
      readUsage,
    ),
  readStream,
  inputCount,
};
