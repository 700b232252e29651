/** Whether a key names a secret, compared without case, `_` and `-`. `max_tokens` is none, nor is `compass`. */
export function isSecretKey(key: string): boolean {
  let known = secretKeys.get(key)
  if (known === undefined) {
    known = namesASecret(key)
    if (secretKeys.size < MAX_KNOWN && key.length <= MAX_KNOWN_LENGTH) secretKeys.set(key, known)
  }
  return known
}

const MAX_KNOWN = 10_000
const MAX_KNOWN_LENGTH = 100
const secretKeys = new Map<string, boolean>()

const SECRET_WORDS =
  /password|passwd|passphrase|secret|apikey|authorization|cookie|credential|privatekey|accesskey|signingkey|encryptionkey|bearer/
const SECRET_ENDINGS = /(?:token|pwd|jwt)\d*$/
/** `pass`, `user_pass`, `userPass`: a word of its own at the end. */
const ENDS_IN_PASS = /(?:^|[^A-Za-z])pass\d*$|Pass\d*$|(?:^|[^A-Z])PASS\d*$/

/** The same, for names that are not worth remembering. */
export function namesASecret(key: string): boolean {
  const plain = key.replace(/[\s_.-]/g, '').toLowerCase()
  return SECRET_WORDS.test(plain) || SECRET_ENDINGS.test(plain) || ENDS_IN_PASS.test(key)
}

/** Words of which every secret name has one. Letters in both cases are twice as fast as a pattern without case. */
export const NAME_HINTS =
  'pass|secret|token|cookie|credential|authorization|bearer|jwt|pwd|(?:api|private|access|signing|encryption)[ _.-]{0,3}key'

/** The pattern, with each of its letters in both cases. */
export function inBothCases(pattern: string): RegExp {
  return new RegExp(pattern.replace(/[a-z]/g, letter => `[${letter}${letter.toUpperCase()}]`))
}
