// Anthropic's Messages, for clients and upstreams.
import { readBilledAnswer } from '../billed-answer.ts';
import type { ClientFormat, UpstreamFormat } from '../format.ts';
import { inputCount } from './count-tokens.ts';
import { writeError } from './errors.ts';
import { hideUsers } from './hide-users.ts';
import { parseRequest } from './parse-request.ts';
import { readAnswer } from './read-answer.ts';
import { ignoredFields, readRequest } from './read-request.ts';
import { readStream } from './read-stream.ts';
import { mayThink } from '../claude-thinking.ts';
import { withoutRefused } from './refused.ts';
import { relayAnswer } from './relay-answer.ts';
import { relayRequest } from './relay-request.ts';
import { relayStream } from './relay-stream.ts';
import { toolNames } from './relay-tool-names.ts';
import { readUsage } from './usage.ts';
import { readSearchTool } from './web-search.ts';
import { writeAnswer } from './write-answer.ts';
import { writeRequest } from './write-request.ts';
import { writeStream } from './write-stream.ts';

export const messages: ClientFormat & UpstreamFormat = {
  name: 'messages',
  parseRequest,
  readRequest,
  ignoredFields,
  fieldNames: {
    response_format: 'output_config.format',
    stop: 'stop_sequences',
    service_tier: 'speed',
    reasoning_effort: 'thinking',
    parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
    user: 'metadata.user_id',
  },
  writeAnswer,
  writeStream,
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  outputLimitField: () => 'max_tokens',
  writeError,
  relay: { searchTool: readSearchTool, writeRequest: relayRequest, relayAnswer, relayStream },
  outputTokensMin: 0,
  toolNames,
  writeRequest,
  hideUsers,
  mayThink,
  readAnswer,
  readBilledAnswer: (body) => readBilledAnswer(body, 'content', ({ usage }) => readUsage(usage)),
  readStream,
  withoutRefused,
  inputCount,
};
