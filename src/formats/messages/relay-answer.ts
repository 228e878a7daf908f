// The straight path down: the upstream's answer as it came, under the catalogue's model id, and with a usage if it had none.
import { countUsage } from '../../canonical/usage.ts';
import { isObject } from '../../lib/json.ts';
import { utf8Length } from '../../lib/tokens.ts';
import type { AnswerContext, RelayedAnswer } from '../format.ts';
import { asText, requireMessage } from './read-answer.ts';
import { readStop } from './stop.ts';
import { readUsage, writeUsage } from './usage.ts';

/** Throws UnreadableAnswer when the body is no message. An answer without usage is shown our own count, as it is charged. */
export function relayAnswer(body: unknown, context: AnswerContext): RelayedAnswer {
  const message = requireMessage(body);
  const usage = readUsage(message.usage);
  const outputBytes = message.content.reduce((bytes: number, block) => bytes + blockBytes(block), 0);
  const relayed = { ...message, model: context.model };
  return {
    body: usage ? relayed : { ...relayed, usage: writeUsage(countUsage({ ...context, outputBytes, early: null })) },
    usage,
    stop: readStop(message.stop_reason, message.stop_sequence),
    outputBytes,
  };
}

/** What the model wrote of a block; results of tools that Anthropic runs are not output. */
function blockBytes(block: unknown): number {
  if (!isObject(block)) return 0;
  switch (block.type) {
    case 'text':
      return utf8Length(asText(block.text));
    case 'thinking':
      return utf8Length(asText(block.thinking));
    case 'tool_use':
    case 'server_tool_use':
      return utf8Length(JSON.stringify(block.input ?? {}));
    default:
      return 0;
  }
}
