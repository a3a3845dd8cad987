import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** A citation of a page of the web, in the form of this wire. Undefined if it is none. */
export function citationOf({ url_citation: cited }: JsonObject): JsonObject | undefined {
  if (!isJsonObject(cited) || typeof cited['url'] !== 'string') return undefined;
  const { url, title, content } = cited;
  return {
    type: 'web_search_result_location',
    url,
    title: typeof title === 'string' ? title : null,
    cited_text: typeof content === 'string' ? content : '',
    encrypted_index: '',
  };
}
