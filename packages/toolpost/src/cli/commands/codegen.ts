import { writeFile } from 'node:fs/promises'
import { jsonSchemaOf } from '../../schema/json-schema.ts'
import { docOf, typescriptType } from '../../schema/typescript-type.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import type { CommandContext } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { unlessStopped } from '../stop-signals.ts'
import { printResult, say } from '../terminal.ts'

const HEAD = `// Written by \`toolpost codegen\`; run it again when the tools change.
//
//   const project = await openProject({ logger: () => silentLogger, say: console.error })   // toolpost/project
//   const tools = connectTools(project.executor)
import type { RunOptions, ToolExecutor, ToolFailure } from 'toolpost'

/** A call that failed. */
export class ToolCallError extends Error {
  override name = 'ToolCallError'
  readonly failure: ToolFailure

  constructor(failure: ToolFailure) {
    super(failure.error)
    this.failure = failure
  }
}
`

const FOOT = `
/** All tools as functions; every call goes through the executor. Each rejects with a ToolCallError if the call failed. */
export function connectTools(executor: Pick<ToolExecutor, 'run'>): Tools {
  const call = (name: string) => async (args: object = {}, options?: RunOptions) => {
    const result = await executor.run({ name, args }, options)
    if (!result.success) throw new ToolCallError(result)
    return result.result
  }
  const connected: Record<string, Record<string, unknown>> = {}
  for (const [group, names] of Object.entries(NAMES)) {
    connected[group] = Object.fromEntries(Object.entries(names).map(([key, name]) => [key, call(name)]))
  }
  return connected as unknown as Tools
}
`

interface Group {
  name: string
  functions: { name: string; tool: Tool }[]
}

/** `toolpost codegen [--out file.ts]`: typed functions for all tools, by server. */
export async function generateCode(
  { project, stop, terminal }: CommandContext,
  { out }: { out?: string },
): Promise<number> {
  const servers = await unlessStopped(project.ready(), stop.signal)
  for (const { name, state, error } of servers)
    if (state !== 'ready')
      say(terminal, `⚠️ The tools of '${name}' are missing; it is ${state}: ${error ?? ''}`)
  const code = codeFor(project.tools)
  if (out === undefined) printResult(terminal, code.trimEnd())
  else {
    await writeFile(out, code)
    say(terminal, `Wrote ${project.tools.getTools().length} functions to ${out}`)
  }
  return EXIT.ok
}

export function codeFor(tools: ToolManager): string {
  const groups = groupsOf(tools)
  const names = Object.fromEntries(
    groups.map(({ name, functions }) => [
      name,
      Object.fromEntries(functions.map(({ name: key, tool }) => [key, tool.name])),
    ]),
  )
  const types = groups.map(
    ({ name, functions }) => `  ${JSON.stringify(name)}: {\n${functions.map(functionType).join('\n')}\n  }`,
  )
  return `${HEAD}
const NAMES: Record<string, Record<string, string>> = ${JSON.stringify(names, null, 2)}

export interface Tools {
${types.join('\n')}
}
${FOOT}`
}

function functionType({ name, tool }: Group['functions'][number]): string {
  const { schema, outputSchema } = { schema: jsonSchemaOf(tool), outputSchema: tool.outputSchema }
  const args = typescriptType(schema)
  const isOptional = !Array.isArray(schema.required) || schema.required.length === 0
  const result = outputSchema ? typescriptType(outputSchema) : 'unknown'
  const doc = docOf(tool).trimEnd()
  return `${doc === '' ? '' : `    ${doc}\n`}    ${JSON.stringify(name)}(args${isOptional ? '?' : ''}: ${args}, options?: RunOptions): Promise<${result}>`
}

/** By server, in its order; those of no server are `local`. */
function groupsOf(tools: ToolManager): Group[] {
  const groups = new Map<string, Group>()
  for (const tool of tools.getTools()) {
    const origin = tools.originOf(tool)
    const key = identifier(origin?.server ?? 'local')
    const group = groups.get(key) ?? { name: key, functions: [] }
    groups.set(key, group)
    group.functions.push({ name: unused(identifier(origin?.name ?? tool.name), group), tool })
  }
  return [...groups.values()]
}

/** `control_zwave_device` becomes `controlZwaveDevice`. */
function identifier(name: string): string {
  const [first = '', ...rest] = name.split(/[^\p{L}\p{N}$]+/u).filter(part => part !== '')
  const joined = first.charAt(0).toLowerCase() + first.slice(1) + rest.map(capitalised).join('')
  return joined === '' || joined === '__proto__' ? 'tool' : joined
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function unused(name: string, { functions }: Group): string {
  const isTaken = (candidate: string) => functions.some(each => each.name === candidate)
  let candidate = name
  for (let count = 2; isTaken(candidate); count++) candidate = `${name}${count}`
  return candidate
}
