/**
 * A word of a name that says that its value is a secret: alone, or with words that usually stand before it, as in `apikey`. Letters
 * within another word say nothing: `portkey`, `tokenizer` and `author` are no secrets.
 */
const SECRET_WORD =
  /^x?(?:api|access|account|admin|app|auth|bearer|client|id|license|master|oauth|private|public|refresh|secret|security|service|session|shared|signing|subscription|user|webhook)*(?:auth|authentication|authori[sz]ation|bearer|cookies?|credentials?|jwt|keys?|oauth|passphrase|passwd|password|secrets?|session|sessionid|sig|signature|tokens?)$/;

/** Whether a value of this name is probably a secret. Words end at a sign, and where a capital follows a small letter. */
export function isSecretName(name: string): boolean {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1-$2').toLowerCase();
  return words.split(/[^a-z\d]+/).some((word) => SECRET_WORD.test(word));
}
