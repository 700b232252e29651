import type { ErrorObject } from 'ajv'
import { hasTwoReadings, pointerParts } from '../schema/explain.ts'
import { declaredNames, type JsonSchema, withBranches } from '../schema/json-schema.ts'
import { grouped, isRecord, valueAt } from '../util/guards.ts'
import { exactNumber, parseJsonText } from './json-text.ts'

export type Arguments = Record<string, unknown>

/** The value of an argument to be removed. */
export const ABSENT = Symbol('absent')

/** A value that is certainly meant, and what becomes of the given one: `numeric text → number`. */
type Fix = { value: unknown; what?: string }

/** A new value at a JSON pointer. */
export type Change = Fix & { pointer: string }

/** One round of repairs, guided by the validation errors. Parts of alternatives are left alone: which was meant? */
export function repairsFor(args: Arguments, errors: readonly ErrorObject[], root: JsonSchema): Change[] {
  const alternatives = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  return [...grouped(errors, ({ instancePath }) => instancePath)].flatMap(([pointer, here]) => {
    if (pointer === '' || alternatives.some(({ instancePath }) => pointer.startsWith(`${instancePath}/`)))
      return []
    const isEntry = Array.isArray(valueAt(args, pointerParts(pointer).slice(0, -1)))
    const fix = onlyOf(here.map(error => fixFor(error, root, isEntry)))
    return fix && fix !== UNSURE ? [{ pointer, ...fix }] : []
  })
}

/** A copy of `args` with all changes applied; parts without changes are shared with the original. */
export function changed(args: Arguments, changes: readonly Change[]): Arguments {
  const copies = new Set<unknown>()
  const copyOf = (value: unknown): Arguments => {
    if (copies.has(value)) return value as Arguments
    const copy = Array.isArray(value) ? [...value] : { ...(value as Arguments) }
    copies.add(copy)
    return copy as Arguments
  }
  const root = copyOf(args)
  // A part is changed before the whole that it belongs to.
  for (const { pointer, value } of changes.toSorted((a, b) => b.pointer.length - a.pointer.length)) {
    const path = pointerParts(pointer)
    const key = path.pop() as string
    let parent = root
    for (const part of path) {
      parent[part] = copyOf(parent[part])
      parent = parent[part] as Arguments
    }
    if (value === ABSENT) delete parent[key]
    else parent[key] = value
  }
  return root
}

/** The fix for an error, if it is certain. An entry of a list is neither removed nor wrapped: the others would shift. */
function fixFor(error: ErrorObject, root: JsonSchema, isEntry: boolean): Fix | undefined {
  const { keyword, params, data, parentSchema } = error
  if (data === null && (keyword === 'type' || keyword === 'enum'))
    return isEntry ? undefined : { value: ABSENT, what: 'null → left out' }
  if (keyword === 'enum') return toChoice(data, params.allowedValues)
  if (keyword === 'const') return toChoice(data, [params.allowedValue])
  if (keyword !== 'type') return undefined
  const items = isEntry ? [] : withBranches([(parentSchema as JsonSchema | undefined)?.items], root)
  const types: string[] = [params.type].flat()
  return onlyOf(types.map(type => toType(data, type) ?? (type === 'array' ? toList(data, items) : undefined)))
}

/** The only fix, or one of several with the same outcome. */
function onlyOf(fixes: (Fix | undefined)[]): Fix | undefined {
  const [first, ...others] = fixes.filter(fix => fix !== undefined)
  const isSame = ({ value }: Fix) =>
    value === first?.value || JSON.stringify(value) === JSON.stringify(first?.value)
  return others.every(isSame) ? first : undefined
}

function toType(data: unknown, type: string): Fix | undefined {
  if (typeof data !== 'string') return undefined
  if (type === 'number' || type === 'integer') {
    const value = hasTwoReadings(data) ? undefined : exactNumber(data)
    const fits = type === 'integer' ? Number.isInteger(value) : value !== undefined
    return fits ? { value, what: 'numeric text → number' } : undefined
  }
  if (type === 'boolean') {
    const [text] = /^(?:true|false)$/.exec(data.trim().toLowerCase()) ?? []
    return text ? { value: text === 'true', what: `text → ${text}` } : undefined
  }
  if (type !== 'object' && type !== 'array') return undefined
  // JSON text, or JSON text inside JSON text: nobody encodes more than twice by mistake.
  const once = parseJsonText(data)
  const value = typeof once === 'string' ? parseJsonText(once) : once
  const fits = type === 'object' ? isRecord(value) : Array.isArray(value)
  return fits ? { value, what: `JSON text → ${type === 'object' ? 'object' : 'list'}` } : undefined
}

/** The one allowed value that differs from the text only in case, whitespace, or not being text. */
function toChoice(data: unknown, choices: readonly unknown[]): Fix | undefined {
  if (typeof data !== 'string') return undefined
  const folded = (text: string) => text.replace(/\s+/g, '').toLowerCase()
  const [value, ...others] = choices.filter(choice => {
    if (typeof choice === 'number') return exactNumber(data) === choice
    return /string|boolean/.test(typeof choice) && folded(String(choice)) === folded(data)
  })
  const isOne = value !== undefined && others.length === 0
  return isOne ? { value, what: `text → ${JSON.stringify(value)}` } : undefined
}

/** A list may have been meant, which is not certain: then no other fix is certain either. */
const UNSURE: Fix = { value: Symbol('unsure') }

/** One word, which is certainly a single value, and no text that means "no value" rather than itself. */
const ONE_WORD =
  /^(?!(?:none|null|nil|undefined|nan|n\.?a\.?|empty|void|nothing|unknown|true|false)$)[\p{L}\p{N}_@#][\p{L}\p{M}\p{N}_@#.:+-]*$/iu

/** Wraps a single value if the schemas of the entries make it certain that it is one, and not a list in another notation. */
function toList(data: unknown, items: readonly JsonSchema[]): Fix {
  const types = items.flatMap(({ type }) => (type === 'integer' ? 'number' : type))
  const known = declaredNames(items)
  const names = isRecord(data) ? Object.keys(data) : []
  const entry = types.includes(typeof data) ? data : toType(data, String(types[0]))?.value
  const isOne =
    typeof data === 'string' && typeof entry === 'string' ? ONE_WORD.test(data) : entry !== undefined
  const isKnown = !isRecord(data) || (names.length > 0 && names.every(name => known.has(name)))
  return isOne && isKnown ? { value: [entry], what: 'one value → list of one' } : UNSURE
}
