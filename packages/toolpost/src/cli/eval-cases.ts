import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { closest } from 'fastest-levenshtein'
import { type Document, isMap, isNode, isSeq, LineCounter, parseDocument } from 'yaml'
import { UsageError } from './exit-codes.ts'

export interface ExpectedCall {
  tool: string
  /** Arguments the call must have; it may have others. */
  args?: Record<string, unknown>
  /** A JSON Schema that its arguments must fit. */
  schema?: object
}

export interface EvalCase {
  name: string
  ask: string
  /** The calls that answer the question; `[]` for none. Any call is fine if left out. */
  expect?: ExpectedCall[]
  /** Tools that must not run: names with `*` and `?`. */
  never: string[]
  /** A text in the answer, or a `/pattern/`. */
  answer?: string
  /** Results of the mocked tools. */
  given: Record<string, unknown>
}

const NAMES = { type: 'array', items: { type: 'string' } }
const CALL = {
  type: ['string', 'object'],
  required: ['tool'],
  properties: { tool: { type: 'string' }, args: { type: 'object' }, schema: { type: 'object' } },
  additionalProperties: false,
}
const CASE = {
  type: 'object',
  required: ['ask'],
  properties: {
    name: { type: 'string' },
    ask: { type: 'string', minLength: 1 },
    expect: { type: 'array', items: CALL },
    never: NAMES,
    answer: { type: 'string' },
    given: { type: 'object' },
  },
  additionalProperties: false,
}
const FILE = {
  type: 'object',
  required: ['cases'],
  properties: {
    cases: { type: 'array', minItems: 1, items: CASE },
    never: NAMES,
    given: { type: 'object' },
  },
  additionalProperties: false,
}

type WrittenCase = Omit<EvalCase, 'name' | 'expect' | 'never' | 'given'> & {
  name?: string
  expect?: (string | ExpectedCall)[]
  never?: string[]
  given?: Record<string, unknown>
}
type WrittenFile = Pick<WrittenCase, 'never' | 'given'> & { cases: WrittenCase[] }
type Path = (string | number)[]

const ajv = new Ajv({ strict: false, allErrors: false })
const fitsFormat = ajv.compile<WrittenFile>(FILE)

/** Reads a file of cases. Throws a UsageError with the file and the line of the first mistake. */
export function readCases(file: string, toolNames: readonly string[]): EvalCase[] {
  const lines = new LineCounter()
  const document = parseDocument(textOf(file), { lineCounter: lines })
  const refuse = (line: number, problem: string): never => {
    throw new UsageError(`${file}:${line}: ${problem}`)
  }
  const at = (path: Path) => lines.linePos(startOf(document, path)).line
  const [broken] = document.errors
  if (broken) return refuse(broken.linePos?.[0].line ?? 1, broken.message.replace(/ at line .*/s, ''))
  const content: unknown = document.toJS()
  if (!fitsFormat(content)) {
    const [{ instancePath = '', message = '', params = {} } = {}] = fitsFormat.errors ?? []
    const path = instancePath.split('/').slice(1)
    const key = params.additionalProperty
    if (key === undefined) return refuse(at(path), `${path.join('.') || 'the file'} ${message}`)
    return refuse(at([...path, key]), `unknown key '${key}'`)
  }
  for (const [index, one] of content.cases.entries()) {
    if (!one.expect && !one.never && one.answer === undefined && !content.never)
      refuse(at(['cases', index]), `'${one.ask}' checks nothing: add expect, never or answer`)
    for (const [position, call] of (one.expect ?? []).map(callOf).entries()) {
      const path = ['cases', index, 'expect', position]
      if (!toolNames.includes(call.tool)) refuse(at(path), unknownTool(call.tool, toolNames))
      const problem = call.schema && schemaProblem(call.schema)
      if (problem) refuse(at([...path, 'schema']), problem)
    }
    const problem = one.answer === undefined ? undefined : patternProblem(one.answer)
    if (problem) refuse(at(['cases', index, 'answer']), problem)
  }
  return content.cases.map(({ expect, ...one }) => ({
    ...one,
    name: one.name ?? one.ask,
    ...(expect && { expect: expect.map(callOf) }),
    never: [...(content.never ?? []), ...(one.never ?? [])],
    given: { ...content.given, ...one.given },
  }))
}

/** Where the last key of the path is, or the last entry. */
function startOf(document: Document, path: Path): number {
  if (path.length === 0) return 0
  const around = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const last = String(path.at(-1))
  const pair = isMap(around) ? around.items.find(({ key }) => String(key) === last) : undefined
  const node = pair?.key ?? (isSeq(around) ? around.items[Number(last)] : undefined)
  return isNode(node) && node.range ? node.range[0] : startOf(document, path.slice(0, -1))
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`Cannot read the cases in ${file}: ${(error as Error).message}`, { cause: error })
  }
}

const callOf = (call: string | ExpectedCall): ExpectedCall =>
  typeof call === 'string' ? { tool: call } : call

function unknownTool(name: string, names: readonly string[]): string {
  const hint = names.length > 0 ? `; did you mean '${closest(name, names)}'?` : ''
  return `there is no tool '${name}'${hint}`
}

function schemaProblem(schema: object): string | undefined {
  try {
    ajv.compile(schema)
    return undefined
  } catch (error) {
    return `not a JSON Schema: ${(error as Error).message}`
  }
}

function patternProblem(text: string): string | undefined {
  try {
    patternOf(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** The expression in `/pattern/flags`; `undefined` for a plain text. */
export function patternOf(text: string): RegExp | undefined {
  const [, pattern, flags] = /^\/(.+)\/([a-z]*)$/.exec(text) ?? []
  return pattern === undefined ? undefined : new RegExp(pattern, flags)
}

export function fitsSchema(schema: object, value: unknown): boolean {
  return ajv.validate(schema, value)
}
