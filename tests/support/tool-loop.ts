// A provider, in any of the four wire formats, whose model runs a whole tool loop: it asks for the
// weather of two cities at once, reads both results from the next request, and reports them.
// Anything that the client or the gateway loses is missing in the answer.
//
//   upstream.on('/v1/messages', playToolLoop('messages'));
//   … a client with a tool `get_weather(city)` that returns `weatherOf(city)` gets `report` …
//
// A request with a JSON schema gets `forecast`, as text or as a call of the client's own
// structured-output tool.
import { encodeEvent, encodeInvoked } from './event-stream.ts';
import { answerBytes, answerJson, answerSse, type Script, type SseFrame } from './upstream.ts';
import { chatTurns } from './turns-chat.ts';
import { converseTurns } from './turns-converse.ts';
import { geminiTurns } from './turns-gemini.ts';
import { messagesTurns } from './turns-messages.ts';
import { responsesTurns } from './turns-responses.ts';
import type { Body, ToolCall, Turn, TurnFormat } from './turn-format.ts';

const formats = {
  responses: responsesTurns,
  chat: chatTurns,
  messages: messagesTurns,
  gemini: geminiTurns,
} as const;
export type LoopWire = keyof typeof formats;

const calls: readonly ToolCall[] = ['Paris', 'Rome'].map((city) => ({
  id: `call_${city}`,
  name: 'get_weather',
  arguments: { city },
}));
const thought = { text: 'I need the weather.', signature: 'c2lnbmF0dXJlIG9mIHRoZSB0aG91Z2h0' };

/**
 * The result of the client's tool. It contains characters that a careless mapping would corrupt.
 */
export function weatherOf(city: string): string {
  return `${city}: "21°" \\ sunny 🌞`;
}

/** The model writes a text before its calls when a request holds this. */
export const askToSpeak = 'Say what you do.';

export const report = `Reports: ${calls.map(({ arguments: { city } }) => weatherOf(String(city))).join('; ')}.`;
export const forecast = { city: 'Paris', degrees: 21 };
const reasoningLost = ' The reasoning is lost.';
/** The report to a client that does not send back earlier reasoning. */
export const reportWithoutReasoning = report + reasoningLost;

/**
 * The report to a Chat client that keeps only OpenAI's own fields of a message or call. Gemini
 * signs calls unasked, and such a client drops the signature. The loop still runs, because Gemini
 * is told that there is none.
 */
export function chatReportOf(model: string): string {
  return model === 'on-gemini' ? reportWithoutReasoning : report;
}

/** Answers whole or streamed, as requested. */
export function playToolLoop(wire: LoopWire): Script {
  const format: TurnFormat = formats[wire];
  return (response, request) => {
    const body = request.body as Body;
    const turn = answer(format, body);
    const isStream = body.stream === true || request.path.endsWith(':streamGenerateContent');
    return (isStream ? answerSse(format.frames(turn)) : answerJson(format.whole(turn)))(
      response,
      request,
    );
  };
}

/** Bedrock's binary streams, cut into small pieces. `isInvoked`: Claude by `invoke`. */
export function playBedrockLoop(isInvoked: boolean): Script {
  const format: TurnFormat = isInvoked ? messagesTurns : converseTurns;
  return (response, request) => {
    const turn = answer(format, request.body as Body);
    if (!request.path.includes('stream')) return answerJson(format.whole(turn))(response, request);
    const bytes = Buffer.concat(format.frames(turn).map((frame) => encodeFrame(frame, isInvoked)));
    const headers = { 'content-type': 'application/vnd.amazon.eventstream' };
    return answerBytes(bytes, { sizes: [7, 100, 1], headers })(response, request);
  };
}

function encodeFrame(frame: SseFrame, isInvoked: boolean): Buffer {
  const { event, data } = frame as { readonly event: string; readonly data: object };
  return isInvoked ? encodeInvoked(data) : encodeEvent(event, data);
}

function answer(format: TurnFormat, body: Body): Turn {
  const results = format.readResults(body);
  const tools = format.toolNames(body);
  const structuringTool = tools.find((name) => name !== 'get_weather');
  if (structuringTool !== undefined) {
    return {
      calls: [{ id: 'call_structure', name: structuringTool, arguments: forecast }],
      text: null,
      thought: null,
    };
  }
  if (tools.length > 0 && results.length === 0)
    return {
      calls,
      text: JSON.stringify(body).includes(askToSpeak) ? 'Let me look.' : null,
      thought: format.asksToThink(body) ? thought : null,
    };
  if (results.length === 0)
    return {
      calls: [],
      text: format.hasSchema(body) ? JSON.stringify(forecast) : 'Hello.',
      thought: null,
    };
  const isLost = format.asksToThink(body) && !JSON.stringify(body).includes(format.proof(thought));
  return {
    calls: [],
    text: `Reports: ${results.join('; ')}.${isLost ? reasoningLost : ''}`,
    thought: null,
  };
}
