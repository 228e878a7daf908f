// Chat Completions, for clients and upstreams.
import { readBilledAnswer } from '../billed-answer.ts';
import type { ClientFormat, UpstreamFormat } from '../format.ts';
import { hideOpenAiUsers } from '../hide-users.ts';
import { writeError } from './errors.ts';
import { parseRequest } from './parse-request.ts';
import { readAnswer } from './read-answer.ts';
import { ignoredFields, readRequest } from './read-request.ts';
import { readStream } from './read-stream.ts';
import { mayThink } from './reasoning.ts';
import { withoutRefused } from './refused.ts';
import { relayAnswer } from './relay-answer.ts';
import { canRelay, relayRequest } from './relay-request.ts';
import { relayStream } from './relay-stream.ts';
import { toolNames } from './relay-tool-names.ts';
import { readUsage } from './usage.ts';
import { lacksSearch, readSearchTool } from './web-search.ts';
import { writeAnswer } from './write-answer.ts';
import { writeRequest } from './write-request.ts';
import { writeStream } from './write-stream.ts';

export const chat: ClientFormat & UpstreamFormat = {
  name: 'chat',
  parseRequest,
  readRequest,
  ignoredFields,
  writeAnswer,
  writeStream,
  keepAlive: ': keep-alive\n\n',
  outputLimitField: (body) =>
    body.max_tokens && !body.max_completion_tokens ? 'max_tokens' : 'max_completion_tokens',
  writeError,
  relay: {
    searchTool: readSearchTool,
    lacksSearch,
    canRelay,
    writeRequest: relayRequest,
    relayAnswer,
    relayStream,
  },
  toolNames,
  writeRequest,
  hideUsers: hideOpenAiUsers,
  mayThink,
  readAnswer,
  readBilledAnswer: (body) => readBilledAnswer(body, 'choices', readUsage),
  readStream,
  withoutRefused,
};
