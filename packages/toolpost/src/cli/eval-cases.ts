import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { closest } from 'fastest-levenshtein'
import { type Document, isMap, isNode, isSeq, LineCounter, parseDocument } from 'yaml'
import { UsageError } from './exit.ts'

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

const [text, object] = [{ type: 'string' }, { type: 'object' }]
const common = { never: { type: 'array', items: text }, given: object }
const closed = (required: string[], properties: object) =>
  ({ type: 'object', required, properties, additionalProperties: false }) as const
const CALL = { ...closed(['tool'], { tool: text, args: object, schema: object }), type: ['string', 'object'] }
const CASE = closed(['ask'], {
  ...{ name: text, ask: { ...text, minLength: 1 }, answer: text, expect: { type: 'array', items: CALL } },
  ...common,
})
const FILE = closed(['cases'], { cases: { type: 'array', minItems: 1, items: CASE }, ...common })

type WrittenCase = Partial<Omit<EvalCase, 'ask' | 'expect'>> & {
  ask: string
  expect?: (string | ExpectedCall)[]
}
type WrittenFile = Pick<WrittenCase, 'never' | 'given'> & { cases: WrittenCase[] }
type Path = (string | number)[]

const ajv = new Ajv({ strict: false })
const fitsFormat = ajv.compile<WrittenFile>(FILE)

/** Reads a file of cases. Throws a UsageError with the file and the line of the first mistake. */
export function readCases(file: string, tools: readonly string[]): EvalCase[] {
  const lines = new LineCounter()
  const document = parseDocument(readText(file), { lineCounter: lines })
  const refuse = (line: number, problem: string): never => {
    throw new UsageError(`${file}:${line}: ${problem}`)
  }
  const at = (path: Path) => lines.linePos(startOf(document, path)).line
  /** The problem that `check` throws. */
  const attempt = (path: Path, check: () => unknown) => {
    try {
      check()
    } catch (error) {
      refuse(at(path), (error as Error).message)
    }
  }
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
  return content.cases.map((one, index) => {
    const { ask, answer, never = [], given } = one
    const expect = one.expect?.map(call => (typeof call === 'string' ? { tool: call } : call))
    const place = ['cases', index]
    if (!expect && !one.never && answer === undefined && !content.never)
      refuse(at(place), `'${ask}' checks nothing: add expect, never or answer`)
    for (const [position, { tool, schema }] of (expect ?? []).entries()) {
      const hint = tools.length > 0 ? `; did you mean '${closest(tool, tools)}'?` : ''
      if (!tools.includes(tool))
        refuse(at([...place, 'expect', position]), `there is no tool '${tool}'${hint}`)
      if (schema) attempt([...place, 'expect', position, 'schema'], () => ajv.compile(schema))
    }
    if (answer !== undefined) attempt([...place, 'answer'], () => patternOf(answer))
    return {
      ...{ name: one.name ?? ask, ask, ...(expect && { expect }), ...(answer !== undefined && { answer }) },
      ...{ never: [...(content.never ?? []), ...never], given: { ...content.given, ...given } },
    }
  })
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

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`Cannot read the cases in ${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** The expression in `/pattern/flags`; `undefined` for a plain text. */
export function patternOf(text: string): RegExp | undefined {
  const [, pattern, flags] = /^\/(.+)\/([a-z]*)$/.exec(text) ?? []
  return pattern === undefined ? undefined : new RegExp(pattern, flags)
}

export const fitsSchema = (schema: object, value: unknown): boolean => ajv.validate(schema, value)
