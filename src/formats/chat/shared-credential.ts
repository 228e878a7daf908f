// All tenants share the operator's credential at the provider. What has a price that the catalogue does not state, or names state kept
// at the provider, is refused here: fields by the table of verdicts, tools by their kind.
import { invalidRequest } from '../../canonical/errors.ts';
import { compileVerdicts, type OpenedFields } from '../field-verdicts.ts';
import type { JsonObject } from '../format.ts';
import { hostPartKinds, hostTable, openAiPartKinds, openAiTable } from './host-fields.ts';
import { asksToSearch } from './web-search.ts';

const checkForOpenAi = compileVerdicts(openAiTable, openAiPartKinds);
const checkForHosts = compileVerdicts(hostTable, hostPartKinds);

/** `elsewhere`: the model runs at a provider of another format, which has no such tool. */
type SearchOffer = 'priced' | 'unpriced' | 'elsewhere';

const unofferedSearch: Readonly<Record<Exclude<SearchOffer, 'priced'>, string>> = {
  unpriced: 'asks for a web search, which has no price here; leave it out, or ask the operator to price it with `tool_prices`',
  elsewhere: 'asks for a web search at OpenAI, and this model does not run there in this format; leave it out',
};

type Going = {
  /** Whether the provider runs a web search here, and at what price. */
  readonly search?: SearchOffer;
  /** To OpenAI itself, and not to one of the many hosts that know more fields. */
  readonly isOpenAi?: boolean;
  readonly opened?: OpenedFields;
};

/** Throws ApiError `invalid_request` that names the field. */
export function refuseUnpriced(body: JsonObject, { search = 'elsewhere', isOpenAi = false, opened }: Going = {}): void {
  if (isOpenAi) checkForOpenAi(body, opened);
  else checkForHosts(body, opened);
  if (search !== 'priced' && asksToSearch(body)) refuse('web_search_options', unofferedSearch[search]);
  if (Array.isArray(body.tools)) body.tools.forEach(refuseUnpricedTool);
}

function refuseUnpricedTool(tool: JsonObject, index: number): void {
  const path = `tools[${index}]`;
  if (tool.type !== 'function' && tool.type !== 'custom') {
    refuse(
      `${path}.type`,
      'must be `function` or `custom`: tools that the provider runs have a price of their own, which is not sold here',
    );
  }
}

function refuse(path: string, why: string): never {
  throw invalidRequest(path, `${path} ${why}`);
}
