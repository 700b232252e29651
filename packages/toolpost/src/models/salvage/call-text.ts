import { parseJsonText, parseNearlyJson } from '../../executor/json-text.ts'
import { isRecord } from '../../runtime/guards.ts'

/** A call as a model wrote it. */
export interface WrittenCall {
  name: string
  args: Record<string, unknown>
}

const NAME_KEYS = ['name', 'tool', 'tool_name', 'function', 'function_name', 'action']
const ARGUMENT_KEYS = ['arguments', 'parameters', 'args', 'params', 'input', 'action_input', 'tool_input']
const OTHER_KEYS = new Set(['id', 'type', 'tool_call_id', 'index'])

/** The calls in a JSON text, in any of the usual forms; `undefined` if it is anything else. */
export async function callsInJson(text: string): Promise<WrittenCall[] | undefined> {
  const body = text.trim()
  if (!/^[{[]/.test(body)) return undefined
  return callsOf(parseJsonText(body) ?? (await parseNearlyJson(body)))
}

function callsOf(value: unknown): WrittenCall[] | undefined {
  if (isRecord(value) && Array.isArray(value.tool_calls) && Object.keys(value).length === 1)
    return callsOf(value.tool_calls)
  const list = Array.isArray(value) ? value : [value]
  const calls = list.map(callOf)
  return list.length > 0 && calls.every(call => call !== undefined) ? calls : undefined
}

/** Nothing but a name and arguments: with a description it is a definition, with a result a report. */
function callOf(value: unknown): WrittenCall | undefined {
  if (!isRecord(value)) return undefined
  if (isRecord(value.function) && Object.keys(value).every(key => key === 'function' || OTHER_KEYS.has(key)))
    return callOf(value.function)
  const keys = Object.keys(value).filter(key => !OTHER_KEYS.has(key))
  const nameKey = NAME_KEYS.find(key => keys.includes(key))
  const argumentKey = ARGUMENT_KEYS.find(key => keys.includes(key))
  if (nameKey === undefined || argumentKey === undefined || keys.length !== 2) return undefined
  const name = value[nameKey]
  const given = value[argumentKey]
  const args = typeof given === 'string' ? parseJsonText(given) : given
  return typeof name === 'string' && isRecord(args) ? { name, args } : undefined
}

const PREFIXES = ['default_api.', 'functions.', 'tools.']
const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}_.-]*$/u

/** `name(key="value", other=3)`, `name({…})`, `name.call(key=…)`, `print(name(…))`; `undefined` for anything else. */
export async function callInCode(text: string, isPrinted = false): Promise<WrittenCall | undefined> {
  const code = trimmedCode(text)
  const open = code.indexOf('(')
  if (open <= 0 || !code.endsWith(')') || closingAt(code, open) !== code.length - 1) return undefined
  const inside = code.slice(open + 1, -1).trim()
  const name = plainName(code.slice(0, open))
  if (!IDENTIFIER.test(name)) return undefined
  if (name === 'print') return isPrinted ? undefined : callInCode(inside, true)
  const args = inside.startsWith('{') ? await parseNearlyJson(inside) : await keywordArguments(inside)
  return isRecord(args) ? { name, args } : undefined
}

function trimmedCode(text: string): string {
  const code = text.trim()
  return code.endsWith(';') ? code.slice(0, -1) : code
}

function plainName(written: string): string {
  const prefix = PREFIXES.find(one => written.startsWith(one)) ?? ''
  const name = written.slice(prefix.length)
  return name.endsWith('.call') ? name.slice(0, -'.call'.length) : name
}

async function keywordArguments(inside: string): Promise<Record<string, unknown> | undefined> {
  if (inside === '') return {}
  const entries = new Map<string, unknown>()
  for (const part of splitAtCommas(inside)) {
    const equals = part.indexOf('=')
    const key = part.slice(0, equals).trim()
    if (equals <= 0 || !IDENTIFIER.test(key) || entries.has(key)) return undefined
    const value = await literal(part.slice(equals + 1).trim())
    if (value === undefined) return undefined
    entries.set(key, value)
  }
  return Object.fromEntries(entries)
}

/** A Python or JavaScript literal, or a bare word. */
async function literal(text: string): Promise<unknown> {
  const list = (parseJsonText(`[${text}]`) ?? (await parseNearlyJson(`[${text}]`))) as unknown
  if (Array.isArray(list)) return list.length === 1 ? list[0] : undefined
  return /^\p{L}[\p{L}\p{N}_-]*$/u.test(text) ? text : undefined
}

/** Splits at the commas outside strings and brackets. */
function splitAtCommas(text: string): string[] {
  const parts: string[] = []
  let start = 0
  scan(text, 0, (at, depth) => {
    if (text[at] === ',' && depth === 0) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
    return false
  })
  const rest = text.slice(start)
  return rest.trim() === '' ? parts : [...parts, rest]
}

/** Where the bracket opened at `open` is closed; -1 if it is not. */
export function closingAt(text: string, open: number): number {
  return scan(text, open, (at, depth) => depth === 0 && CLOSING.has(text[at] ?? ''))
}

const OPENING = new Set('([{')
const CLOSING = new Set(')]}')

/** Scans a text once, skipping strings; returns the first place where `isFound` is true, else -1. */
function scan(text: string, from: number, isFound: (at: number, depth: number) => boolean): number {
  let depth = 0
  let quote = ''
  for (let at = from; at < text.length; at++) {
    const sign = text[at] as string
    if (quote !== '') {
      if (sign === '\\') at++
      else if (sign === quote) quote = ''
      continue
    }
    if (sign === '"' || sign === "'") quote = sign
    else if (OPENING.has(sign)) depth++
    else if (CLOSING.has(sign)) depth--
    if (isFound(at, depth)) return at
  }
  return -1
}
