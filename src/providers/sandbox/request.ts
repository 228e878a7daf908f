// The parts of a host's request that the sandbox uses, whatever the wire format.
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { ToolNameRule } from '../../formats/tool-names.ts';

export type SandboxRequest = Pick<
  CanonicalRequest,
  | 'system'
  | 'messages'
  | 'tools'
  | 'toolChoice'
  | 'parallelToolCalls'
  | 'maxOutputTokens'
  | 'stopSequences'
  | 'outputFormat'
> & {
  readonly asksToThink: boolean;
  /** The rule that adapted tool names for the host. Left out: they are the client's own. */
  readonly toolNames?: ToolNameRule;
  /** The name of the provider's own web search tool, or `codeTool`. Left out: none is offered. */
  readonly searchTool?: string;
};

/**
 * The name of Gemini's code execution in a directive. The sandbox treats it as a search whose query is
 * the code.
 */
export const codeTool = 'code_execution';
