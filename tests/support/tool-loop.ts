// A provider, in any upstream format, whose model runs a whole tool loop: it asks for the
// weather of two cities at once, reads both results from the next request, and reports them.
// Anything that the client or the gateway loses is missing in the answer.
//
//   upstream.on('/v1/messages', playToolLoop('messages', 'sse'));
//   … a client with a tool `get_weather(city)` that returns `weatherOf(city)` gets `report` …
//
// A request with a JSON schema gets `forecast`, as text or as a call of the client's own
// structured-output tool.
import type { UpstreamFormatName } from '../../src/terms/format-name.ts';
import { turnFormats } from './answers.ts';
import { asksForStream, encodeFrames, streamType, type Framing } from './model-hosts.ts';
import { answerBytes, answerJson, type Script } from './upstream.ts';
import type { Body, ToolCall, Turn, TurnFormat } from './turn-format.ts';

export type LoopWire = UpstreamFormatName;

const cities = ['Paris', 'Rome'];
const calls: readonly ToolCall[] = cities.map((city) => ({
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

export const report = `Reports: ${cities.map(weatherOf).join('; ')}.`;
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
  return model.endsWith('-gemini') ? reportWithoutReasoning : report;
}

/** Answers whole or streamed, as requested. */
export function playToolLoop(wire: LoopWire, framing: Framing): Script {
  return playTurns(wire, framing, answer);
}

/** Answers each request with the model's turn; binary streams are cut into small pieces. */
export function playTurns(
  wire: LoopWire,
  framing: Framing,
  turnOf: (format: TurnFormat, body: Body) => Turn,
): Script {
  const format = turnFormats[wire];
  return (response, request) => {
    const turn = turnOf(format, request.body as Body);
    if (!asksForStream(request.path, request.text))
      return answerJson(format.whole(turn))(response, request);
    const bytes = encodeFrames(framing, format.frames(turn));
    const headers = { 'content-type': streamType(framing) };
    const sizes = framing === 'sse' ? [bytes.length] : [7, 100, 1];
    return answerBytes(bytes, { sizes, headers })(response, request);
  };
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
