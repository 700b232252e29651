import { REMOVED } from './known-secrets.ts'
import { BEGIN_OF_KEY, END_OF_KEY } from './secret-blocks.ts'
import { withoutSecretWords } from './secret-formats.ts'
import { isSecretKey } from './secret-names.ts'

/*
 * Secrets given away by a neighbouring value: `{name: 'password', value: 'x'}`, `['--token', 'x']`. A name that is
 * itself a secret was removed from the copy but still counts.
 */

const MAX_NAME = 100
/** An option or a header in a flat list, followed by its value. */
const LISTED_NAME = /^--?[a-z]|^(?:proxy-)?authorization$|cookie$|^x-/i

/** Keys that hold the value of a pair, and the keys that may hold its name. */
const PAIRS = new Map(
  Object.entries({
    value: 'name key header field label id type param parameter variable element selector k',
    val: 'name key header field label id param parameter variable k',
    v: 'name key k',
    text: 'name field label element selector',
    content: 'name key header field',
    default: 'name key',
    input: 'name field label element selector prompt question id',
    argument: 'name parameter param option',
    answer: 'question prompt name label id',
    example: 'name key id parameter param',
  }).map(([value, names]) => [value, new Set(names.split(' '))]),
)

/** What is shown for the value of a secret: only that there is one. */
export function withoutValue(value: unknown): unknown {
  return typeof value === 'boolean' || value === null || value === '' ? value : REMOVED
}

/** The originals of texts that were changed while copying. */
type Originals = ReadonlyMap<string | number, string> | undefined

export function cleanList(values: unknown[], originals: Originals): void {
  const words = values.every(value => typeof value === 'string') ? withoutSecretWords(values) : undefined
  if (words) values.splice(0, values.length, ...words)
  let inKey = false
  for (let at = 0; at < values.length; at++) {
    const text = originals?.get(at) ?? values[at]
    if (inKey) values[at] = withoutValue(values[at])
    if (typeof text !== 'string') continue
    if (at + 1 < values.length && isSecretName(text) && (LISTED_NAME.test(text) || values.length === 2))
      values[at + 1] = withoutValue(values[at + 1])
    inKey = (inKey || BEGIN_OF_KEY.test(text)) && !END_OF_KEY.test(text)
  }
}

export function cleanObject(entries: Record<string, unknown>, originals: Originals): void {
  const textOf = (key: string) => originals?.get(key) ?? entries[key]
  let names: string[] | undefined
  for (const key in entries) {
    const pairedWith = PAIRS.get(key) ?? PAIRS.get(key.toLowerCase())
    if (!pairedWith) continue
    names ??= Object.keys(entries).filter(name => isSecretName(textOf(name)))
    if (names.some(name => pairedWith.has(name.toLowerCase()))) entries[key] = withoutValue(entries[key])
  }
  if (entries.kind === 'Secret') cleanKubernetes(entries)
  if (typeof entries.command === 'string' && Array.isArray(entries.args)) cleanCommand(entries)
}

function cleanKubernetes(entries: Record<string, unknown>): void {
  for (const key of ['data', 'stringData']) if (key in entries) entries[key] = withoutValue(entries[key])
}

/** What the options mean depends on the program. */
function cleanCommand(entries: Record<string, unknown>): void {
  const words = [entries.command, ...(entries.args as unknown[])]
  if (!words.every(word => typeof word === 'string')) return
  entries.args = withoutSecretWords(words)?.slice(1) ?? entries.args
}

function isSecretName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= MAX_NAME && isSecretKey(name)
}
