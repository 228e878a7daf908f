// Claude on Bedrock and Vertex: a Messages request whose model stands in the path, and what the clouds
// refuse of it. Fields that name state or servers are refused everywhere (formats/messages).
import { invalidRequest } from '../canonical/errors.ts';
import { hasUrlDocument, listUrlImages } from '../formats/messages/url-images.ts';
import { isObject, type JsonObject } from '../lib/json.ts';

/**
 * Throws ApiError `invalid_request` for what the cloud cannot do: another route serves it, if the model
 * has one.
 */
export function asCloudBody(body: JsonObject, cloud: string, version: string): JsonObject {
  refuseUnknown(body, cloud);
  const { model: _model, service_tier: _tier, ...rest } = body;
  return { anthropic_version: version, ...rest };
}

function refuseUnknown(body: JsonObject, cloud: string): void {
  const [image] = listUrlImages({ body });
  if (image)
    throw invalidRequest(
      `${image.path}.source`,
      `${image.path}.source: ${cloud} takes no addresses of images; send the image as base64`,
    );
  if (hasUrlDocument({ body }))
    throw invalidRequest(
      'messages',
      `messages: ${cloud} takes no addresses of documents; send the document as base64`,
    );
  if (body['speed'] === 'fast')
    throw invalidRequest('speed', `speed: ${cloud} has no fast mode; leave it out`);
  const tools = Array.isArray(body['tools']) ? body['tools'].filter(isObject) : [];
  const strict = tools.findIndex((tool) => tool['strict'] === true);
  if (strict !== -1)
    throw invalidRequest(
      `tools[${strict}].strict`,
      `tools[${strict}].strict: ${cloud} does not check the arguments of tools; leave it out`,
    );
}
