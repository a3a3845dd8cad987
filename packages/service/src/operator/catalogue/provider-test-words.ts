import { type CatalogueProvider, credentialOf, keyNamesOf, originOf } from '@purser/contract/catalogue-providers.ts';
import type { TestedCall } from '#probe/test-call.ts';

interface Tested extends Pick<TestedCall, 'outcome' | 'words' | 'status' | 'faultCode' | 'retryAfterSeconds'> {
  readonly definition: CatalogueProvider;
  readonly providerModel: string;
}

/** What a test has shown and what to do about it, in words. They have nothing of the provider's text and nothing of a key. */
export function testedWords({ definition, providerModel, ...tested }: Tested): string {
  const { outcome, words, status } = tested;
  const host = originOf(definition) ?? 'the simulator';
  const answered = status === undefined ? '' : ` (${status})`;
  if (status === 404) {
    const what = `the model \`${providerModel}\`, or the path of the address`;
    return `The provider does not know ${what}${answered}. Check the name of its model and the address of the provider.`;
  }
  if (outcome === 'unauthorized') return keyWords({ definition, providerModel, ...tested });
  if (outcome === 'throttled') {
    const wait = tested.retryAfterSeconds === undefined ? 'in a minute' : `in ${tested.retryAfterSeconds} s`;
    return `The provider was reached, and limits the calls of your account${answered}. Test it again ${wait}. If this continues, check the limits and the credit of your account there.`;
  }
  if (outcome === 'timeout') {
    return `The provider did not answer in time${answered}. Check its address, and whether a firewall drops connections to ${host}. A server that has to load the model first may answer the next test.`;
  }
  if (outcome === 'outage') {
    return status === undefined
      ? unreachedWords(host, tested.faultCode)
      : `The provider failed${answered}. Test it again later, and see whether the provider reports an outage.`;
  }
  if (outcome === 'refused') {
    return `The provider refused the call${answered}. Check its address: it may lead to another program, or to another path.`;
  }
  if (outcome === 'malformed') {
    return `${host} answered with something that is not a completion. Check the address, its path and the \`kind\` of the provider.`;
  }
  return words;
}

/**
 * Returns words for a key that was refused, or has no right or no money. Some kinds of providers find their keys
 * outside of the catalogue.
 */
function keyWords({ definition, providerModel, words, status }: Tested): string {
  const answered = status === undefined ? '' : ` (${status})`;
  const names = keyNamesOf(definition).map(({ name }) => name);
  const named = names.length > 0 ? names.join(', ') : credentialOf(definition)?.value;
  if (status === 401 && named === undefined) {
    return `The provider requires a key${answered}, and its entry does not name one. Name one there, or check the credentials of this machine.`;
  }
  const key = named === undefined ? 'this machine' : `the key \`${named}\``;
  if (status === 401) {
    return `The provider does not accept ${key}${answered}. Check its value, and that it belongs to ${originOf(definition) ?? 'this provider'}.`;
  }
  return `${words.replace(/\.$/, '')}${answered}. Check with the provider whether ${key} may use the model \`${providerModel}\`, and whether your account has credit.`;
}

const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EAI_NONAME', 'EAI_NODATA']);
const CERTIFICATE = /CERT|SELF_SIGNED|ISSUER|ALTNAME|^ERR_TLS|^ERR_SSL|^EPROTO$/;

/** Why no connection came about, by the code of the system or of TLS. */
function unreachedWords(host: string, code: string | undefined): string {
  if (code === undefined)
    return `The connection to ${host} failed or was closed. Check the address, and test it again.`;
  if (UNKNOWN_HOST.has(code))
    return `No host with the name in ${host} was found (${code}). Check the spelling of the address.`;
  if (code === 'EAI_AGAIN') return `The name in ${host} could not be looked up (${code}). Check this machine’s DNS.`;
  if (code === 'ECONNREFUSED')
    return `Nothing is listening at ${host} (${code}). Check the host and port, and that the server is running.`;
  if (code === 'ETIMEDOUT' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH') {
    return `${host} cannot be reached from here (${code}). Check the network and the firewall.`;
  }
  if (CERTIFICATE.test(code))
    return `A secure connection to ${host} could not be made (${code}). Check its certificate, and \`http\` or \`https\` in the address.`;
  return `The connection to ${host} failed (${code}). Check the address, and test it again.`;
}
