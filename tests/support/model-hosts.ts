// Where tests of all upstreams send their calls: each wire format at its own vendor, and the clouds,
// which have addresses, errors and streams of their own.
import type { UpstreamFormatName } from '../../src/terms/format-name.ts';
import { streamFrames, wholeAnswer, type Content, type StreamFrames } from './answers.ts';
import { cohereFrames, cohereWhole } from './cohere-answers.ts';
import { encodeInvoked, encodeText } from './event-stream.ts';
import { framesText, type SseFrame } from './upstream.ts';

export type HostName =
  | 'responses'
  | 'chat'
  | 'messages'
  | 'gemini'
  | 'converse'
  | 'invoke'
  | 'vertex'
  | 'azure'
  | 'cohere';

/** How a host writes the events of a stream: Bedrock's two calls have binary ones. */
export type Framing = 'sse' | 'converse' | 'invoke';

type HostAnswers = {
  readonly whole: (content: Content) => object;
  readonly frames: (content: Content) => StreamFrames;
};

export type ModelHost = {
  readonly name: HostName;
  readonly wire: UpstreamFormatName;
  readonly framing: Framing;
  /** Its answers, where they are not those of the format. */
  readonly own?: HostAnswers;
  /** Without the model. */
  readonly route: { readonly provider: string; readonly api?: UpstreamFormatName };
  /** The paths that a model is called at, whole and streamed. */
  readonly paths: (model: string) => readonly string[];
};

const onVertex = '/vertex/v1/projects/my-project/locations/global/publishers/anthropic/models';

export const modelHosts: readonly ModelHost[] = [
  {
    name: 'responses',
    wire: 'responses',
    framing: 'sse',
    route: { provider: 'openai', api: 'responses' },
    paths: () => ['/v1/responses'],
  },
  {
    name: 'chat',
    wire: 'chat',
    framing: 'sse',
    route: { provider: 'openai', api: 'chat' },
    paths: () => ['/v1/chat/completions'],
  },
  {
    name: 'messages',
    wire: 'messages',
    framing: 'sse',
    route: { provider: 'anthropic' },
    paths: () => ['/v1/messages'],
  },
  {
    name: 'gemini',
    wire: 'gemini',
    framing: 'sse',
    route: { provider: 'google' },
    paths: (model) =>
      ['generateContent', 'streamGenerateContent'].map((call) => `/v1beta/models/${model}:${call}`),
  },
  {
    name: 'converse',
    wire: 'converse',
    framing: 'converse',
    route: { provider: 'bedrock', api: 'converse' },
    paths: (model) => ['converse', 'converse-stream'].map((call) => bedrockPath(model, call)),
  },
  {
    name: 'invoke',
    wire: 'messages',
    framing: 'invoke',
    route: { provider: 'bedrock', api: 'messages' },
    paths: (model) =>
      ['invoke', 'invoke-with-response-stream'].map((call) => bedrockPath(model, call)),
  },
  {
    name: 'vertex',
    wire: 'messages',
    framing: 'sse',
    route: { provider: 'vertex', api: 'messages' },
    paths: (model) =>
      ['rawPredict', 'streamRawPredict'].map((call) => `${onVertex}/${model}:${call}`),
  },
  {
    name: 'azure',
    wire: 'responses',
    framing: 'sse',
    route: { provider: 'azure', api: 'responses' },
    paths: () => ['/azure/openai/v1/responses'],
  },
  {
    name: 'cohere',
    wire: 'chat',
    framing: 'sse',
    own: { whole: cohereWhole, frames: cohereFrames },
    route: { provider: 'cohere' },
    paths: () => ['/cohere/v2/chat'],
  },
];

function bedrockPath(model: string, call: string): string {
  return `/bedrock/model/${model}/${call}`;
}

/** The providers of all hosts at one address. `fields`: of each, with the key. */
export function hostProviders(url: string, fields: object): Readonly<Record<string, object>> {
  return {
    openai: { kind: 'openai', base_url: `${url}/v1`, ...fields },
    anthropic: { kind: 'anthropic', base_url: url, ...fields },
    google: { kind: 'google', base_url: url, ...fields },
    bedrock: { kind: 'bedrock', base_url: `${url}/bedrock`, ...fields },
    vertex: { kind: 'vertex', base_url: `${url}/vertex`, project: 'my-project', ...fields },
    azure: { kind: 'azure', base_url: `${url}/azure`, ...fields },
    cohere: { kind: 'cohere', base_url: `${url}/cohere`, ...fields },
  };
}

export function hostNamed(name: HostName): ModelHost {
  return modelHosts.find((host) => host.name === name)!;
}

/** The host that a model is called at by this path, which may have a query. */
export function hostOf(path: string): ModelHost {
  const [bare = ''] = path.split('?', 1);
  const model = /\/models?\/([^/:]+)/.exec(bare)?.[1] ?? '';
  const host = modelHosts.find(({ paths }) => paths(model).includes(bare));
  if (!host) throw new Error(`no host has the path ${path}`);
  return host;
}

export function wholeOf({ wire, own }: ModelHost, content: Content): object {
  return own ? own.whole(content) : wholeAnswer(wire, content);
}

export function streamOf({ wire, own }: ModelHost, content: Content): StreamFrames {
  return own ? own.frames(content) : streamFrames(wire, content);
}

/** Vendors ask for a stream in the body, clouds in the path. */
export function asksForStream(path: string, body: string): boolean {
  return /:stream|-stream$/.test(path) || /"stream":true/.test(body);
}

export function streamType(framing: Framing): string {
  return framing === 'sse' ? 'text/event-stream' : 'application/vnd.amazon.eventstream';
}

/** The bytes of these events. Raw text has a byte for each character. */
export function encodeFrames(framing: Framing, frames: readonly SseFrame[]): Buffer {
  return Buffer.concat(frames.map((frame) => encodeFrame(framing, frame)));
}

function encodeFrame(framing: Framing, frame: SseFrame): Buffer {
  if (typeof frame === 'string') return Buffer.from(frame, 'latin1');
  if (framing === 'sse') return Buffer.from(framesText([frame]));
  const { event = '', data } = frame;
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return framing === 'converse' ? encodeText(event, text) : encodeInvoked(text);
}
