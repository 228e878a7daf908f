// Amazon Bedrock: Claude in Anthropic's own format by `invoke`, so that its cache marks, thinking and
// betas stay as they are, and the models of all other vendors by Converse.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_Operations_Amazon_Bedrock_Runtime.html
import type { UpstreamFailure } from '../../canonical/event.ts';
import { readInputCount } from '../../formats/converse/count-tokens.ts';
import type { InputCount } from '../../formats/format.ts';
import { allowedBetas } from '../../formats/messages/betas.ts';
import type { JsonObject } from '../../lib/json.ts';
import { bearer } from '../../lib/key-headers.ts';
import { editItems } from '../../formats/edit-json.ts';
import type { HttpProviderKind, SentAs } from '../provider.ts';
import { readClaudeId } from '../../terms/prompt-cache.ts';
import { asCloudBody, cloudBetas } from '../claude-on-clouds.ts';
import { openCredential } from './credential.ts';
import { shownAnswer, toServerSentEvents } from './events.ts';

const anthropicVersion = 'bedrock-2023-05-31';
/** A profile runs a model in several regions. */
const profile = /^(?:us|eu|apac|jp|au|us-gov|ca|global)\./;

export const bedrock: HttpProviderKind = {
  kind: 'bedrock',
  formatsOf: (model) => (model.includes('claude') ? ['messages'] : ['converse']),
  path: (format, { model, stream }) =>
    `${modelPath(model)}/${callOf(format === 'messages', stream)}`,
  // Only by the model's own id; an ARN does not tell it.
  countTokensPath: (model) =>
    model.startsWith('arn:') ? null : `${modelPath(model.replace(profile, ''))}/count-tokens`,
  inputCounts: { messages: countOfInvoke() },
  headers: (apiKey) => ({
    accept: 'application/json, application/vnd.amazon.eventstream',
    ...bearer(apiKey),
  }),
  readFailure,
  betas: cloudBetas.bedrock,
  adaptBody: (body, sent) => (sent.format === 'messages' ? asInvoked(body, sent) : body),
  shownAnswer,
  toServerSentEvents,
  openCredential,
};

function modelPath(model: string): string {
  return `/model/${encodeURIComponent(model)}`;
}

function callOf(isInvoked: boolean, stream: boolean): string {
  if (isInvoked) return stream ? 'invoke-with-response-stream' : 'invoke';
  return stream ? 'converse-stream' : 'converse';
}

/** Whether to stream is in the path, and the betas are in the body. */
function asInvoked(body: JsonObject, { target, client, ignored }: SentAs): JsonObject {
  // Bedrock validates newer models with its own copy of the schema, which lacks it.
  const takesStrict = [405, 406].includes(readClaudeId(target.model).version);
  const there = { cloud: 'Bedrock', version: anthropicVersion, takesStrict };
  const { stream: _, ...rest } = asCloudBody(body, there, ignored);
  const betas = new Set(
    allowedBetas(client['anthropic-beta'], cloudBetas.bedrock).split(',').filter(Boolean),
  );
  // The field is refused, and the feature before it does the same.
  const tools = editItems(rest.tools, ({ eager_input_streaming: isEager, ...tool }) => {
    if (isEager === true) betas.add('fine-grained-tool-streaming-2025-05-14');
    return tool;
  });
  return {
    ...rest,
    ...(tools !== undefined && { tools }),
    ...(betas.size > 0 && { anthropic_beta: [...betas] }),
  };
}

function countOfInvoke(): InputCount {
  return {
    write: (body) => ({
      input: { invokeModel: { body: Buffer.from(JSON.stringify(body)).toString('base64') } },
    }),
    read: readInputCount,
  };
}

/** What is wrong with the route, or the operator's account, and comes as if the request were at fault. */
const faultsOfRoute =
  /with on-demand throughput isn.t supported|model identifier is invalid|end of its life|not authorized|don.t have access|^operation not allowed/i;
/** ServiceQuotaExceededException is a 400. Behind a colon, a bracket or a quote may be the client's words. */
const noRoom = /^(?:[\w ,.-]|(?<=\w)['’](?=\w)){0,200}\bquotas?\b/i;

function readFailure(failure: UpstreamFailure): UpstreamFailure {
  const { status, message } = failure;
  // The model failed, or took too long; another try may succeed.
  if (status === 424) return { ...failure, status: 502 };
  if (status !== 400) return failure;
  if (noRoom.test(message)) return { ...failure, status: 429 };
  return faultsOfRoute.test(message) ? { ...failure, status: 404 } : failure;
}
