// Claude on Bedrock and Vertex: a Messages request whose model stands in the path, and what the clouds
// lack of it. Fields that name state or servers are refused everywhere (formats/messages).
import { invalidRequest } from '../canonical/errors.ts';
import { editItems } from '../formats/edit-json.ts';
import { asCloudMarks } from '../formats/messages/cache-marks.ts';
import { listUrlMedia } from '../formats/url-media.ts';
import type { JsonObject } from '../lib/json.ts';

type CloudOfClaude = {
  /** Its name, for errors. */
  readonly cloud: string;
  /** What it calls the version of the API. */
  readonly version: string;
  /** It knows `strict` of this model's tools. */
  readonly takesStrict: boolean;
};

/**
 * Throws ApiError `invalid_request` for what the cloud cannot do: another route serves it, if the model
 * has one.
 */
export function asCloudBody(
  body: JsonObject,
  { cloud, version, takesStrict }: CloudOfClaude,
  ignored: Set<string>,
): JsonObject {
  refuseUnknown(body, cloud);
  const { model: _model, service_tier: _tier, ...rest } = asCloudMarks(body, ignored);
  const tools = takesStrict ? rest.tools : withoutOption(rest.tools, 'strict', ignored);
  return { anthropic_version: version, ...rest, ...(tools !== undefined && { tools }) };
}

/** Leaves an option of tools out, which is refused even when it is false. */
export function withoutOption(tools: unknown, name: string, ignored: Set<string>) {
  return editItems(tools, (tool) => {
    if (!(name in tool)) return tool;
    const { [name]: value, ...rest } = tool;
    if (value === true) ignored.add(`tools.${name}`);
    return rest;
  });
}

/** What both clouds know, as others found by trying (PyPI `litellm` 1.110.2, read 2026-11-29). */
const onBoth =
  'computer-use-2025-01-24 computer-use-2025-11-24 context-management-2025-06-27 dangerous-tool-use-2026-09-03 ' +
  'effort-2025-11-24 fine-grained-tool-streaming-2025-05-14 interleaved-thinking-2025-05-14 ' +
  'mid-conversation-output-config-2026-07-01 mid-conversation-tool-changes-2026-07-01 ' +
  'thinking-binding-controls-2026-08-01 thinking-display-updates-2026-08-18 tool-search-tool-2025-10-19';

/** They refuse requests with others: Claude Code sends some. */
export const cloudBetas: Readonly<Record<'bedrock' | 'vertex', ReadonlySet<string>>> = {
  bedrock: new Set(onBoth.split(' ')),
  vertex: new Set([
    ...onBoth.split(' '),
    ...(
      'claude-code-20250219 inline-tools-2026-09-15 mid-conversation-system-clear-at-2026-08-21 ' +
      'model-context-window-exceeded-2025-08-26 output-128k-2025-02-19 structured-outputs-2025-11-13 ' +
      'structured-outputs-2025-12-15 task-budgets-2026-03-13 thinking-token-count-2026-05-13 ' +
      'token-efficient-tools-2025-02-19 tool-examples-2025-10-29'
    ).split(' '),
  ]),
};

function refuseUnknown(body: JsonObject, cloud: string): void {
  const { images, other } = listUrlMedia(body);
  const [image] = images;
  if (image)
    throw invalidRequest(
      `${image.path}.source`,
      `${image.path}.source: ${cloud} takes no addresses of images; send the image as base64`,
    );
  if (other !== null)
    throw invalidRequest(
      'messages',
      `messages: ${cloud} takes no addresses of documents; send the document as base64`,
    );
  if (body['speed'] === 'fast')
    throw invalidRequest('speed', `speed: ${cloud} has no fast mode; leave it out`);
}
