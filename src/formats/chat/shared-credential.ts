// All tenants share the operator's credential at the provider. Refuses what has a price outside the
// catalogue or names state kept at the provider: fields by the table of verdicts, tools by their
// kind.
import { refuseField } from '../../canonical/errors.ts';
import type { Destination, SearchOffer } from '../destination.ts';
import { compileVerdicts } from '../field-verdicts.ts';
import type { JsonObject } from '../../lib/json.ts';
import { hostPartKinds, hostTable, openAiPartKinds, openAiTable } from './host-fields.ts';
import { asksToSearch } from './web-search.ts';

const checkForOpenAi = compileVerdicts(openAiTable, openAiPartKinds);
const checkForHosts = compileVerdicts(hostTable, hostPartKinds);

const unofferedSearch: Readonly<Record<Exclude<SearchOffer, 'priced'>, string>> = {
  unpriced:
    'asks for a web search, which has no price here; leave it out, or ask the operator to set a price in `tool_prices`',
  elsewhere:
    'asks for a web search at OpenAI, but this model does not run there in this format; leave it out',
};

/**
 * Returns the body without unknown fields. Throws ApiError `invalid_request` that names the field.
 */
export function refuseUnshareable<Body extends JsonObject>(
  body: Body,
  { search = 'elsewhere', isOpenAi = false, unknown }: Destination,
): Body {
  const known = isOpenAi ? checkForOpenAi(body, unknown) : checkForHosts(body, unknown);
  if (search !== 'priced' && asksToSearch(body))
    refuseField('web_search_options', unofferedSearch[search]);
  if (Array.isArray(body.tools)) body.tools.forEach(refuseUnpricedTool);
  return known;
}

function refuseUnpricedTool(tool: JsonObject, index: number): void {
  const path = `tools[${index}]`;
  if (tool.type !== 'function' && tool.type !== 'custom') {
    refuseField(
      `${path}.type`,
      'must be `function` or `custom`: tools that the provider runs are billed separately, which is not offered here',
    );
  }
}
