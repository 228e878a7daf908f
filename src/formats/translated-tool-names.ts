// Tool names in translation: fitted in the canonical request, restored in the upstream's answer.
import type { StreamEvent } from '../canonical/event.ts';
import type { AssistantPart, CanonicalRequest, Message, Tool } from '../canonical/request.ts';
import { requireChosenTool } from '../canonical/tool-choice.ts';
import { fitToolNames, type ToolNameRule, type ToolNames } from './tool-names.ts';

type FittedRequest = {
  readonly request: CanonicalRequest;
  /** Null when all fit. */
  readonly names: ToolNames | null;
  /**
   * The tools that are left out because they repeat an earlier name, by that name: `tools.look`. Their
   * places in the client's list are not known here.
   */
  readonly ignored: readonly string[];
};

/** Throws ApiError `invalid_request` for a choice of a tool that the request does not define. */
export function fitRequestNames(asked: CanonicalRequest, rule: ToolNameRule): FittedRequest {
  // Checked here, while the choice still has the client's name for the tool.
  requireChosenTool(asked);
  const repeated = rule.isUnique ? repeatedTools(asked.tools) : new Set<Tool>();
  const request =
    repeated.size === 0
      ? asked
      : { ...asked, tools: asked.tools.filter((tool) => !repeated.has(tool)) };
  const ignored = [...new Set(Array.from(repeated, ({ name }) => `tools.${name}`))];
  const { tools, messages, toolChoice } = request;
  const called = messages.flatMap(({ role, content }) =>
    role === 'assistant' ? content.flatMap(namesOf) : [],
  );
  const names = fitToolNames([...tools.map(({ name }) => name), ...called], rule);
  if (!names) return { request, names, ignored };
  const rename = <T extends { readonly name: string }>(named: T): T => ({
    ...named,
    name: names.toSent(named.name),
  });
  return {
    request: {
      ...request,
      tools: tools.map(rename),
      messages: messages.map((message) => renameCalls(message, rename)),
      toolChoice: toolChoice?.type === 'tool' ? rename(toolChoice) : toolChoice,
    },
    names,
    ignored,
  };
}

function repeatedTools(tools: readonly Tool[]): ReadonlySet<Tool> {
  const names = new Set<string>();
  return new Set(tools.filter(({ name }) => names.size === names.add(name).size));
}

export function restoreEventName(event: StreamEvent, names: ToolNames): StreamEvent {
  return event.type === 'tool-call-start' ? { ...event, name: names.toClient(event.name) } : event;
}

function namesOf(part: AssistantPart): string[] {
  return part.type === 'tool-call' ? [part.name] : [];
}

function renameCalls(
  message: Message,
  rename: <T extends { readonly name: string }>(call: T) => T,
): Message {
  if (message.role !== 'assistant') return message;
  return {
    ...message,
    content: message.content.map((part) => (part.type === 'tool-call' ? rename(part) : part)),
  };
}
