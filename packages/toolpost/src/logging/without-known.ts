import { knownSecretsIn } from './known-secrets.ts'
import { FINDERS, mayHaveASecret } from './secret-formats.ts'
import { cut, findAll, merged, type Span } from './secret-spans.ts'

/** Of this a name of a secret could be a part: `passwo`, `Bearer`, `the author`. */
const LIKE_WORDS = /^[A-Za-z _.-]+$/
/** Beyond it nothing else is searched in a text. */
const MAX_SEARCHED = 100_000

/**
 * `text` without any value given to `removeFromLogs`. If such a value is itself what announces a secret, such as
 * "password" or "Bearer", what it announces goes with it: once the word is removed, nobody could find that.
 */
export function withoutKnownSecrets(text: string): string {
  const pattern = knownSecretsIn(text)
  if (!pattern) return text
  const known: Span[] = []
  let announces = false
  for (const { index, 0: value } of text.matchAll(pattern)) {
    known.push({ from: index, to: index + value.length })
    announces ||= LIKE_WORDS.test(value) || mayHaveASecret(value)
  }
  if (!announces) return cut(text, known)
  return cut(text, merged([...known, ...findAll(text.slice(0, MAX_SEARCHED), FINDERS)]))
}
