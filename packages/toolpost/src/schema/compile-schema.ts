import { Ajv, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { JsonSchema } from './json-schema.ts'

export interface CompiledSchema {
  validate: ValidateFunction
  /** Patterns that are left to the tool. */
  leftOut: string[]
}

const OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  strict: false,
  // `required: ['toString']` is not met by what every object inherits.
  ownProperties: true,
  // No meta-schema: compiling it is most of Ajv's start-up time, and broken schemas throw without it.
  meta: false,
  validateSchema: false,
  // Two tools may carry the same `$id`.
  addUsedSchema: false,
  // Optimising the generated code takes half of the compile time and gains nothing that can be measured.
  code: { optimize: false },
  logger: false,
}

const compiled = new Map<string, CompiledSchema>()

/** Definitions of servers come and go: what is kept of old ones is bounded. */
const MAX_COMPILED = 20_000

export interface CompileOptions {
  /** The schema is ours: its patterns may run on the built-in engine, which need not be loaded. */
  isOurs?: boolean
}

/** Compiles a schema, once for all equal ones. Rejects where it cannot be compiled. */
export async function compileSchema(
  schema: JsonSchema,
  { isOurs = false }: CompileOptions = {},
): Promise<CompiledSchema> {
  const text = JSON.stringify(schema)
  const before = compiled.get(text)
  if (before) return before
  const leftOut: string[] = []
  const options: Options = { ...OPTIONS }
  if (!isOurs && text.includes('"pattern')) {
    const { linearPatterns } = await import('./patterns.ts')
    options.code = { optimize: false, regExp: linearPatterns(pattern => leftOut.push(pattern)) as never }
  }
  const result = compiled.get(text) ?? {
    validate: compiledWith(compilerFor(schema, options), schema),
    leftOut,
  }
  if (compiled.size >= MAX_COMPILED) forgetAll()
  compiled.set(text, result)
  return result
}

function compiledWith(compiler: Ajv | Ajv2020, schema: JsonSchema): ValidateFunction {
  const validate = compiler.compile(schema)
  // It would answer with a promise, which passes for true.
  if ('$async' in validate) throw new Error('asynchronous schemas ($async) are not supported')
  return validate
}

function forgetAll(): void {
  compiled.clear()
  sharedCompilers.clear()
}

function compilerFor(schema: JsonSchema, options: Options): Ajv | Ajv2020 {
  const Compiler = isOldDraft(schema) ? Ajv : Ajv2020
  const compiler = sharedCompilers.get(Compiler)
  if (compiler && !options.code?.regExp) return compiler
  const fresh = new Compiler(options)
  // The package is CommonJS: its function is the default export or that export's own default.
  const addFormats = ((ajvFormats as { default?: unknown }).default ?? ajvFormats) as (ajv: unknown) => void
  addFormats(fresh)
  if (!options.code?.regExp) sharedCompilers.set(Compiler, fresh)
  return fresh
}

const sharedCompilers = new Map<unknown, Ajv | Ajv2020>()

/** `definitions`, array `items` and `dependencies` mean something else before 2019-09. */
function isOldDraft({ $schema }: JsonSchema): boolean {
  return typeof $schema === 'string' && /draft-0[3-7]\b/.test($schema)
}
