// Writes a client's body as the gateway sends it, without a gateway: on the straight path, or in
// translation.
import { lowerCustomTools } from '../../src/formats/adapting/custom-tools.ts';
import { repairConversation } from '../../src/formats/adapting/repair-conversation.ts';
import type { ClientFormatName, UpstreamFormatName } from '../../src/terms/format-name.ts';
import type { UpstreamRequest, UpstreamTarget } from '../../src/formats/format.ts';
import { clientFormats, upstreamFormats } from '../../src/formats/registry.ts';
import { fitRequestNames } from '../../src/formats/translated-tool-names.ts';
import type { JsonObject } from '../../src/lib/json.ts';

type Way = { readonly client: ClientFormatName; readonly upstream: UpstreamFormatName };

export function writtenRequest(
  { client, upstream }: Way,
  body: JsonObject,
  changes: Partial<UpstreamTarget> = {},
): UpstreamRequest {
  const target: UpstreamTarget = {
    model: 'upstream-model',
    stream: false,
    maxOutputTokens: 99,
    thinking: true,
    isOpenAi: false,
    ...changes,
  };
  const format = clientFormats[client];
  const request = format.parseRequest(body, { chatMaxTokens: null });
  if (client === upstream && format.relay.canRelay?.(request, target) !== false)
    return format.relay.writeRequest(request, target);
  const { toolNames, writeRequest } = upstreamFormats[upstream];
  const read = lowerCustomTools(format.readRequest(request)).request;
  const fitted = fitRequestNames(repairConversation(read), toolNames);
  const written = writeRequest(fitted.request, target);
  const lost = format.ignoredFields?.(request) ?? [];
  return { ...written, ignored: [...lost, ...fitted.ignored, ...written.ignored] };
}
