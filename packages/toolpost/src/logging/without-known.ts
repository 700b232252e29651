import { knownSecretsIn } from './known-secrets.ts'
import { FINDERS, mayHaveASecret } from './secret-formats.ts'
import { cut, findAll, merged, type Span } from './secret-spans.ts'

/** Could be part of the name of a secret: `passwo`, `Bearer`, `the author`. */
const LIKE_WORDS = /^[A-Za-z _.-]+$/
/** Only this much of a text is searched for other secrets. */
const MAX_SEARCHED = 100_000

/**
 * `text` without any value passed to `removeFromLogs`. If such a value itself announces a secret, such as "password" or
 * "Bearer", the announced secret goes with it: once the word is removed, it could no longer be found.
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
