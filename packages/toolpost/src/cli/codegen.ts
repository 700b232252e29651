import { writeFileSync } from 'node:fs'
import { codeFor } from '../tools/typed-functions.ts'
import type { Context } from './context.ts'
import { EXIT } from './process.ts'
import { print, say } from './terminal.ts'

/** `toolpost codegen [--out file.ts]`: generates typed functions for all tools, grouped by server. */
export async function generateCode({ open, flags: { out } }: Context): Promise<number> {
  const project = await open({ looksForItself: true })
  for (const { name, state, error = `the server is ${state}` } of await project.ready())
    if (state !== 'ready') say(`⚠️ The tools of '${name}' are missing: ${error}`)
  const code = codeFor(project.tools)
  if (out === undefined) print(code.trimEnd())
  else writeFileSync(out, code)
  if (out !== undefined) say(`Wrote ${project.tools.getTools().length} functions to ${out}`)
  return EXIT.ok
}
