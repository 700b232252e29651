import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

/**
 * Runs a program on the sources in a process of its own, in which every package that is loaded from node_modules
 * is noted, and gives the names of those of LangChain.
 */
async function langchainLoadedBy(program: string): Promise<string[]> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    write: false,
    logLevel: 'error',
  })
  const hook = `
    export async function resolve(specifier, context, next) {
      if (/^@langchain|^@anthropic|^ollama|^langsmith/.test(specifier)) process._rawDebug('LOADED ' + specifier)
      return next(specifier, context)
    }`
  const register = `import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}))`
  const stderr = await run(
    ['--import', `data:text/javascript,${encodeURIComponent(register)}`, '--input-type=module', '-'],
    outputFiles[0]?.text ?? '',
  )
  return [...stderr.matchAll(/LOADED (\S+)/g)].map(match => match[1] ?? '')
}

/** Runs node on a program that it reads from its input; gives what it wrote to stderr. */
function run(options: string[], program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const cwd = join(import.meta.dirname, '..', '..')
    const child = execFile(process.execPath, options, { cwd }, (error, _out, stderr) =>
      error ? reject(error) : resolve(stderr),
    )
    child.stdin?.end(program)
  })
}

const SETUP = `
  import { localTools, ToolExecutor, ToolManager } from '../index.ts'
  import { OfflineClient, OllamaClient, AnthropicClient, ModelClient } from './index.ts'
  import { scriptedModel, fakeOllama } from '../testing/index.ts'
  const tools = new ToolManager({ tools: localTools() })
  const executor = new ToolExecutor(tools)
`

it('loading toolpost, making any client and answering offline loads nothing of LangChain', async () => {
  const loaded = await langchainLoadedBy(`${SETUP}
    new OllamaClient({ executor })
    new AnthropicClient({ executor, apiKey: 'sk-test-key' })
    new ModelClient({ executor, model: scriptedModel('hi') })
    const { text } = await new OfflineClient({ executor }).ask('what time is it in Tokyo')
    if (!text.includes('Tokyo')) throw new Error(text)
  `)
  expect(loaded).toEqual([])
})

it('a question to Ollama loads LangChain for Ollama, and nothing of Anthropic', async () => {
  const loaded = await langchainLoadedBy(`${SETUP}
    const server = await fakeOllama({ replies: ['hi'] })
    await new OllamaClient({ executor, baseUrl: server.url }).ask('hello')
    await server.close()
  `)
  expect(loaded).toContain('@langchain/ollama')
  expect(loaded).not.toContain('@langchain/anthropic')
})
