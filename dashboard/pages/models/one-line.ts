// A request to a model in one line, for pasting.
import type {
  AnyModel as Model,
  ChatModel,
  OtherModel,
} from '../../../src/management/contract/models.ts';
import { voiceOf } from '../../parts/model-text.ts';

/** The line for a shell, with the key in the environment variable TOLLGATE_KEY. */
export function curlLine(model: Model, baseUrl: string): string {
  const [path, body] = requestTo(model);
  if ('type' in model && model.type === 'transcription')
    return `curl ${baseUrl}${path} -H "Authorization: Bearer $TOLLGATE_KEY" -F model=${model.id} -F file=@speech.mp3`;
  return `curl ${baseUrl}${path} -H "Authorization: Bearer $TOLLGATE_KEY" -H "Content-Type: application/json" -d '${JSON.stringify(body)}'`;
}

/** The lines for a shell and, for language models, for OpenAI's SDKs. */
export function codeLines(model: Model, baseUrl: string) {
  const id = JSON.stringify(model.id);
  const curl = { language: 'curl', label: 'With curl', code: curlLine(model, baseUrl) };
  if (!isChat(model)) return [curl];
  return [
    curl,
    {
      language: 'Python',
      label: 'With Python',
      code: `OpenAI(base_url="${baseUrl}/v1", api_key=os.environ["TOLLGATE_KEY"]).responses.create(model=${id}, input="Hello!").output_text`,
    },
    {
      language: 'TypeScript',
      label: 'With TypeScript',
      code: `(await new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: process.env.TOLLGATE_KEY }).responses.create({ model: ${id}, input: 'Hello!' })).output_text`,
    },
  ];
}

function requestTo(model: Model): readonly [path: string, body: object] {
  if (isChat(model)) return ['/v1/responses', { model: model.id, input: 'Hello!' }];
  if ('type' in model) {
    const [path, body] = otherRequests[model.type];
    const voice = model.type === 'speech' && { voice: voiceOf(model.vendor) };
    return [path, { model: model.id, ...body, ...voice }];
  }
  const images = model.input_images.min > 0 && { images: ['https://example.com/photo.jpg'] };
  return ['/v1/images/generations', { model: model.id, prompt: 'A lighthouse', ...images }];
}

const otherRequests: Readonly<Record<OtherModel['type'], readonly [path: string, body: object]>> = {
  embedding: ['/v1/embeddings', { input: 'A lighthouse' }],
  moderation: ['/v1/moderations', { input: 'A lighthouse' }],
  rerank: ['/v1/rerank', { query: 'lighthouses', documents: ['A lighthouse', 'A bakery'] }],
  speech: ['/v1/audio/speech', { input: 'A lighthouse' }],
  transcription: ['/v1/audio/transcriptions', {}],
};

function isChat(model: Model): model is ChatModel {
  return 'context_tokens' in model;
}
