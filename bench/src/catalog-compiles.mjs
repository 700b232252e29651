// Counts the schemas that Ajv compiles for a catalog: when it is registered, and for a first call. Prints JSON.
import { createRequire } from 'node:module'
import { ToolExecutor, ToolManager } from 'toolpost'
import { argsOf, nameOf, toolOf } from './catalog-tool.mjs'

const size = Number(process.argv[2])

/** The product's Ajv, not the one in this folder. */
const { prototype } = createRequire(import.meta.resolve('toolpost'))('ajv/dist/core').default
const { compile } = prototype
let compiled = 0
prototype.compile = function (...args) {
  compiled++
  return compile.apply(this, args)
}

const tools = new ToolManager()
for (let index = 0; index < size; index++) tools.addCustomTool(toolOf(index))
const byRegistering = compiled
const result = await new ToolExecutor(tools).run({ name: nameOf(size - 1), args: argsOf(size - 1) })
if (!result.success) throw new Error(result.error)
process.stdout.write(JSON.stringify({ byRegistering, byFirstCall: compiled - byRegistering }))
