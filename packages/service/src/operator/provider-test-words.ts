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
  const key = keyWordsOf(definition);
  const answered = status === undefined ? '' : ` (${status})`;
  if (status === 404) {
    return `The provider does not know the model \`${providerModel}\`, or the path${answered}. Check the name of its model and the address of the provider.`;
  }
  switch (outcome) {
    case 'unauthorized':
      if (status === 401) return `The provider does not accept the key ${key}${answered}. Check its value, and that it is a key for ${host}.`;
      return `${words}${answered} The key ${key} may lack the right to the model \`${providerModel}\`, or the account has no credit left. Check both with the provider.`;
    case 'throttled':
      return `The provider limits the calls of the account${answered}, which means that it was reached. ${waitWords(tested.retryAfterSeconds)} If it stays so, check the account’s limits and credit with the provider.`;
    case 'timeout':
      return `${host} did not answer in time${answered}. Check the address, and whether a firewall drops connections to it. A server that loads its model first may answer a second test.`;
    case 'outage':
      return status === undefined
        ? unreachedWords(host, tested.faultCode)
        : `The provider failed${answered}. Test it again later, and see whether the provider reports an outage.`;
    case 'refused':
      return `The provider refused the call${answered}. Check the address of the provider: it may lead to another program, or to another path.`;
    case 'malformed':
      return `${host} answered with something that is no completion. Check the address, its path and the \`kind\` of the provider.`;
    default:
      return words;
  }
}

function keyWordsOf(definition: CatalogueProvider): string {
  const names = keyNamesOf(definition).map(({ name }) => name);
  if (names.length > 0) return `\`${names.join(', ')}\``;
  const credential = credentialOf(definition)?.value;
  return credential === undefined ? 'that is not named here' : `\`${credential}\``;
}

function waitWords(seconds: number | undefined): string {
  return seconds === undefined ? 'Wait a minute, and test it again.' : `Test it again in ${seconds} s.`;
}

const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EAI_NONAME', 'EAI_NODATA']);
const CERTIFICATE = /CERT|SELF_SIGNED|ISSUER|ALTNAME|^ERR_TLS|^ERR_SSL|^EPROTO$/;

/** Why no connection came about, by the code of the system or of TLS. */
function unreachedWords(host: string, code: string | undefined): string {
  if (code === undefined) return `The connection to ${host} failed or was closed. Check the address, and test it again.`;
  if (UNKNOWN_HOST.has(code)) return `No host of the name in ${host} was found (${code}). Check the spelling of the address.`;
  if (code === 'EAI_AGAIN') return `The name in ${host} could not be looked up (${code}). Check this machine’s DNS.`;
  if (code === 'ECONNREFUSED') return `Nothing listens at ${host} (${code}). Check the host and port, and that the server runs.`;
  if (code === 'ETIMEDOUT' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH') {
    return `${host} cannot be reached from here (${code}). Check the network and the firewall.`;
  }
  if (CERTIFICATE.test(code)) return `No secure connection to ${host} came about (${code}). Check its certificate, and \`http\` or \`https\` in the address.`;
  return `The connection to ${host} failed (${code}). Check the address, and test it again.`;
}
