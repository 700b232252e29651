import { Ajv, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { JsonSchema } from './json-schema.ts'

export interface CompiledSchema {
  validate: ValidateFunction
  /** Patterns that only the tool can check. */
  leftOut: string[]
}

const OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  strict: false,
  // Inherited properties do not satisfy `required: ['toString']`.
  ownProperties: true,
  // No meta-schema: compiling it is most of Ajv's start-up time, and broken schemas throw without it.
  meta: false,
  validateSchema: false,
  // Inlined at every reference, a definition that is used 200 times would take 200 times as long to compile.
  inlineRefs: false,
  // Optimising the generated code takes half the compile time for no measurable gain.
  code: { optimize: false },
  logger: false,
}

type Compiler = Ajv | Ajv2020
type CompilerClass = new (options: Options) => Compiler

const compiled = new Map<string, CompiledSchema>()

/** Servers' definitions come and go, so the cache is bounded. */
const MAX_COMPILED = 20_000

export interface CompileOptions {
  /** The schema is ours: its patterns may run on the built-in engine, which needs no loading. */
  isOurs?: boolean
}

const texts = new WeakMap<JsonSchema, string>()

/** A schema as text, which identifies equal schemas; written once. */
export function schemaText(schema: JsonSchema): string {
  const text = texts.get(schema) ?? JSON.stringify(schema)
  texts.set(schema, text)
  return text
}

/** Compiles a schema, once for all equal ones. Rejects with a readable message if it does not compile. */
export async function compileSchema(
  schema: JsonSchema,
  { isOurs = false }: CompileOptions = {},
): Promise<CompiledSchema> {
  const text = schemaText(schema)
  const before = compiled.get(text)
  if (before) return before
  const leftOut: string[] = []
  const options: Options = { ...OPTIONS }
  if (!isOurs && text.includes('"pattern')) {
    const { linearPatterns } = await import('./patterns.ts')
    options.code = { optimize: false, regExp: linearPatterns(pattern => leftOut.push(pattern)) as never }
  }
  const compiler = await compilerFor(schema, text, options)
  const result = compiled.get(text) ?? { validate: compiledWith(compiler, schema), leftOut }
  if (compiled.size >= MAX_COMPILED) forgetCompiled()
  compiled.set(text, result)
  return result
}

function compiledWith(compiler: Compiler, schema: JsonSchema): ValidateFunction {
  const validate = compile(compiler, schema)
  // It would return a promise, which is truthy.
  if ('$async' in validate) throw new Error('asynchronous schemas ($async) are not supported')
  return validate
}

function compile(compiler: Compiler, schema: JsonSchema): ValidateFunction {
  try {
    return compiler.compile(schema)
  } catch (error) {
    // A chain of references that is too long; reported by our caller.
    if (error instanceof RangeError) throw error
    throw new Error(whyNotCompiled(error as Error, schemaText(schema)), { cause: error })
  }
}

const MAX_REASON = 300

/** Ajv's messages quote the schema, which may be long; some of its failures have no useful message. */
function whyNotCompiled(error: Error, text: string): string {
  if (error instanceof URIError) {
    const [half] = /\\ud[89a-f][\da-f]{2}/i.exec(text) ?? []
    return half === undefined
      ? 'one of its $ref, $id or $anchor is not a valid URI'
      : `one of its names has half a surrogate pair (${half}), which is not valid Unicode`
  }
  const { message } = error
  if (error instanceof TypeError || error instanceof SyntaxError) return `it does not compile (${message})`
  return message.length > MAX_REASON ? `${message.slice(0, MAX_REASON)}…` : message
}

/** Drops everything compiled so far. */
export function forgetCompiled(): void {
  compiled.clear()
  sharedCompilers.clear()
}

const sharedCompilers = new Map<CompilerClass, Compiler>()

/** A schema with names (`$id`) or patterns gets its own compiler: two tools may use the same name. */
async function compilerFor(schema: JsonSchema, text: string, options: Options): Promise<Compiler> {
  const Class = await compilerClass(schema, text)
  const refersToMeta = /"\$(?:ref|dynamicRef)":"https?:\/\/json-schema\.org\//.test(text)
  const isShared = !options.code?.regExp && !refersToMeta && !text.includes('"$id"')
  const before = isShared ? sharedCompilers.get(Class) : undefined
  if (before) return before
  const fresh = new Class(refersToMeta ? { ...options, meta: true } : options)
  // The package is CommonJS: its function is the default export, or the default of that.
  const addFormats = ((ajvFormats as { default?: unknown }).default ?? ajvFormats) as (ajv: unknown) => void
  addFormats(fresh)
  if (refersToMeta) await addOldMetaSchemas(fresh)
  if (isShared) sharedCompilers.set(Class, fresh)
  return fresh
}

/** `definitions`, array-form `items` and `dependencies` mean something else in older drafts. */
async function compilerClass({ $schema }: JsonSchema, text: string): Promise<CompilerClass> {
  if (text.includes('json-schema.org/draft/2019-09/schema')) return (await import('ajv/dist/2019.js')).Ajv2019
  const isOld = typeof $schema === 'string' && /draft-0[3-7]\b/.test($schema)
  return isOld && !text.includes('json-schema.org/draft/2020-12/schema') ? Ajv : Ajv2020
}

const OLD_META_SCHEMAS = ['draft-06', 'draft-07']

/** Ajv includes the meta-schema of its own draft. Older ones must be added, also under https, which some schemas use. */
async function addOldMetaSchemas(compiler: Compiler): Promise<void> {
  const { createRequire } = await import('node:module')
  const require = createRequire(import.meta.url)
  for (const draft of OLD_META_SCHEMAS) {
    const metaSchema = require(`ajv/dist/refs/json-schema-${draft}.json`)
    for (const $id of [`http://json-schema.org/${draft}/schema`, `https://json-schema.org/${draft}/schema`])
      if (!compiler.getSchema($id)) compiler.addSchema({ ...metaSchema, $id })
  }
  // Ajv cannot compile these; what refers to them is a schema, and the rest is up to the tool.
  for (const draft of ['draft-03', 'draft-04'])
    for (const scheme of ['http', 'https'])
      compiler.addSchema({ $id: `${scheme}://json-schema.org/${draft}/schema`, type: 'object' })
}
