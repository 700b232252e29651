import { Ajv, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { RE2JS } from 're2js'
import type { JsonSchema } from './json-schema.ts'
import { checksPerValue, inTurn, schemaProblem, TimeLimitError, withTimeLimit } from './limits.ts'

/** Subschemas × values that may be checked without a time limit, which itself takes as long as 200 of them. */
const MAX_QUICK_WORK = 5_000

const OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  strict: false,
  // JSON has neither NaN nor Infinity: they would arrive as null.
  strictNumbers: true,
  // Inherited properties do not satisfy `required: ['toString']`.
  ownProperties: true,
  // Broken schemas throw without it.
  validateSchema: false,
  // Inlined at every reference, a definition that is used 200 times would take 200 times as long to compile.
  inlineRefs: false,
  logger: false,
}

type Engine = typeof RE2JS

/** A schema that was compiled. */
export class CompiledSchema {
  /** Patterns that only the tool can check. */
  readonly leftOut = new Set<string>()
  readonly #compile: (leftOut: Set<string>) => ValidateFunction
  readonly #checksPerValue: number
  #validate: ValidateFunction | undefined
  #hasTimedOut = false

  constructor(schema: JsonSchema, compile: (leftOut: Set<string>) => ValidateFunction) {
    this.#compile = compile
    this.#checksPerValue = checksPerValue(schema)
  }

  get validate(): ValidateFunction {
    this.#validate ??= this.#compile(this.leftOut)
    return this.#validate
  }

  /** Whether this many values are validated fast enough without a time limit. */
  isQuick(values: number): boolean {
    return this.#checksPerValue * values <= MAX_QUICK_WORK
  }

  /** Runs work that validates, under the time limit; in turn if it was too slow before, so as not to hold up other calls. */
  async runLimited<T>(work: () => T): Promise<T> {
    // Stopped anywhere, it may be in any state.
    const reset = () => {
      this.#validate = undefined
      this.#hasTimedOut = true
    }
    return this.#hasTimedOut ? inTurn(work, reset) : withTimeLimit(work, reset)
  }
}

const compiled = new WeakMap<JsonSchema, Promise<CompiledSchema>>()

/** Compiles a schema, once. Rejects with a readable reason if it does not compile or is over the limits. */
export function compileSchema(schema: JsonSchema): Promise<CompiledSchema> {
  const known = compiled.get(schema)
  if (known) return known
  const making = compile(schema).catch(error => {
    // Another time the machine may be less busy.
    if (error.cause instanceof TimeLimitError) compiled.delete(schema)
    throw error
  })
  compiled.set(schema, making)
  return making
}

async function compile(schema: JsonSchema): Promise<CompiledSchema> {
  const problem = schemaProblem(schema)
  if (problem) throw new Error(problem)
  const text = JSON.stringify(schema)
  const engine = text.includes('"pattern') ? (await import('re2js')).RE2JS : undefined
  const result = new CompiledSchema(schema, leftOut => {
    const regExp = engine && { regExp: linearPatterns(engine, leftOut) as never }
    // The meta-schema is only for schemas that refer to it: compiling it is most of Ajv's start-up time.
    const meta = /"\$(?:ref|dynamicRef)":"https?:/.test(text)
    const options = { ...OPTIONS, meta, code: { optimize: false, ...regExp } }
    const validate = compilerFor(schema, options).compile(schema)
    // It would return a promise, which is truthy.
    if ('$async' in validate) throw new Error('asynchronous schemas ($async) are not supported')
    return validate
  })
  try {
    await inTurn(() => result.validate)
  } catch (error) {
    throw new Error(whyNotCompiled(error), { cause: error })
  }
  return result
}

/** One for each schema: two tools may use the same `$id`, and nothing is left behind by one that was stopped. */
function compilerFor({ $schema }: JsonSchema, options: Options): Ajv | Ajv2020 {
  // `definitions`, array-form `items` and `dependencies` mean something else in older drafts.
  const isOld = typeof $schema === 'string' && /draft-0[3-7]\b/.test($schema)
  const compiler = isOld ? new Ajv(options) : new Ajv2020(options)
  // The package is CommonJS: its function is the default export, or the default of that.
  const addFormats = ((ajvFormats as { default?: unknown }).default ?? ajvFormats) as (ajv: unknown) => void
  addFormats(compiler)
  return compiler
}

export const ENDLESS_REFERENCES = 'its chain of references is too long or endless'

/** Some of Ajv's failures have no useful message. */
function whyNotCompiled(error: unknown): string {
  const { message } = error as Error
  if (error instanceof TimeLimitError) return `it takes ${message} to compile`
  if (error instanceof RangeError) return ENDLESS_REFERENCES
  if (error instanceof URIError)
    return 'one of its names, $ref, $id or $anchor is not valid Unicode or not a valid URI'
  return error instanceof Error && error.name === 'Error' ? message : `it does not compile (${message})`
}

/** Patterns for an engine that takes linear time. Those it cannot express match anything, and are added to `leftOut`. */
function linearPatterns(engine: Engine, leftOut: Set<string>) {
  const compile = (pattern: string) => {
    let expression: RE2JS | undefined
    try {
      expression = engine.compile(translated(pattern, engine))
    } catch {
      leftOut.add(pattern)
    }
    // Ajv tells patterns apart by their text, so each needs its own.
    return { test: (text: string) => expression?.test(text) ?? true, toString: () => `/${pattern}/` }
  }
  return Object.assign(compile, { code: 'linearPatterns' })
}

/** In RE2, `\s` is ASCII only. */
const UNICODE_SPACES =
  '\\s\\x{b}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'

/** A pattern in the engine's syntax. Throws if it would mean something else there. */
function translated(pattern: string, engine: Engine): string {
  if (pattern.match(/\\[\s\S]/g)?.includes('\\k')) throw new Error('back-references cannot be expressed')
  let inClass = false
  return engine.translateRegExp(pattern).replace(/\\x\{d[89a-f]..\}|\\[\s\S]|[[\]]/gi, token => {
    if (token === '[') inClass = true
    if (token === ']') inClass = false
    if (token === '\\s') return inClass ? UNICODE_SPACES : `[${UNICODE_SPACES}]`
    if (token === '\\S' && !inClass) return `[^${UNICODE_SPACES}]`
    if (token === '\\S' || token.length > 2) throw new Error(`${token} cannot be expressed`)
    return token
  })
}
