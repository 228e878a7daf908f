// OpenAI's Responses, for clients and upstreams.
import { isObject } from '../../lib/json.ts';
import { readBilledAnswer } from '../billed-answer.ts';
import type { ClientFormat, UpstreamFormat } from '../format.ts';
import { hideOpenAiUsers } from '../hide-users.ts';
import { inputCount } from './count-tokens.ts';
import { failsInStream, writeError } from './errors.ts';
import { parseRequest } from './parse-request.ts';
import { readAnswer } from './read-answer.ts';
import { ignoredFields, readRequest } from './read-request.ts';
import { readStream } from './read-stream.ts';
import { withoutRefused } from './refused.ts';
import { relayAnswer } from './relay-answer.ts';
import { canRelay, relayRequest } from './relay-request.ts';
import { relayStream } from './relay-stream.ts';
import { toolNames } from './relay-tool-names.ts';
import { writeAnswer } from './write-answer.ts';
import { outputTokensMin, writeRequest } from './write-request.ts';
import { readUsage } from './usage.ts';
import { readSearchTool } from './web-search.ts';
import { writeStream } from './write-stream.ts';

export const responses: ClientFormat & UpstreamFormat = {
  name: 'responses',
  outputTokensMin,
  parseRequest,
  readRequest,
  ignoredFields,
  fieldNames: {
    response_format: 'text.format',
    messages: 'input',
    reasoning_effort: 'reasoning.effort',
    verbosity: 'text.verbosity',
  },
  writeAnswer,
  writeStream,
  keepAlive: ': keep-alive\n\n',
  outputLimitField: () => 'max_output_tokens',
  writeError,
  failsInStream,
  toolNames,
  hideUsers: hideOpenAiUsers,
  writeRequest,
  mayThink: ({ reasoning }) => !isObject(reasoning) || reasoning.effort !== 'none',
  readAnswer,
  readBilledAnswer: (body) => readBilledAnswer(body, 'output', readUsage),
  readStream,
  withoutRefused,
  inputCount,
  relay: {
    searchTool: readSearchTool,
    canRelay,
    writeRequest: relayRequest,
    relayAnswer,
    relayStream,
  },
};
