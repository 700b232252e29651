import { existsSync } from 'node:fs'
import { hasDatabase } from '../history/database.ts'
import { hintFor } from '../mcp/index.ts'
import { findSandbox } from '../mcp/sandbox.ts'
import { findOllamaModels, ollamaAddress } from '../models/find-models.ts'
import { OfflineClient } from '../models/offline-client.ts'
import { zwavePackage } from '../project/example-home.ts'
import type { Project } from '../project/project.ts'
import { missingVoice } from '../project/voice.ts'
import { defaultBuiltins } from '../tools/declared-tools.ts'
import { listDocuments } from '../tools/local/documents.ts'
import { localInternals } from '../tools/local-tools.ts'
import type { Context } from './context.ts'
import { EXIT, unlessStopped } from './process.ts'
import { type Finding, findingsOn, isWrong, lineOf } from './status.ts'
import { counted, print } from './terminal.ts'

/** A line of stderr that says what is wrong. */
const TELLING =
  /cannot find|no module|not found|no such file|denied|unauthorized|forbidden|invalid|missing|required|not set|\bE[A-Z]{4,}\b|error|exception|fatal|failed|panic/i
const MAX_CHARACTERS = 300

/** `toolpost doctor`: one finding per line; exits with 1 if something configured does not work. */
export async function examine({ open }: Context): Promise<number> {
  const project = await open({ looksForItself: true, triesOnce: true })
  const looked = [project.ready(), project.model(), project.keepHistory({ unasked: false })]
  await unlessStopped(Promise.all(looked))
  const running = await Promise.all(findingsOn(project).map(finding => advised(finding, project)))
  const findings = [...(await configured(project)), ...running]
  for (const finding of findings) print(lineOf(finding))
  return findings.some(isWrong) ? EXIT.failed : EXIT.ok
}

/** What is configured, or could be, but does not run by itself. */
async function configured(project: Project): Promise<Finding[]> {
  const { file, config, executor } = project
  const { documents, tools = [], mcpServers = {}, voice, history } = config
  const findings: Finding[] = [['ready', 'config', file ?? 'built-in example']]
  const add = (...finding: Finding) => void findings.push(finding)
  if (documents !== undefined)
    await listDocuments(documents).then(
      ({ size }) => add('ready', 'documents', `${counted(size, 'file')} in ${documents}`),
      (error: Error) => add('failed', 'documents', error.message),
    )
  const known = { builtin: defaultBuiltins, internal: localInternals({ documents }) }
  for (const { name, implementation: given } of tools)
    if (given.type !== 'mock' && !Object.hasOwn(known[given.type], given.handler))
      add('failed', `tool ${name}`, `${given.type} handler '${given.handler}' not found`)
  const sentences = new OfflineClient({ executor, sentences: config.sentences })
  await sentences.load()
  for (const text of sentences.problems()) add('failed', 'sentences', text)
  for (const text of project.unmatchedPatterns()) add('off', 'patterns', text)
  const home = file === undefined ? await project.exampleHome() : undefined
  if (file === undefined && zwavePackage() === undefined)
    add('off', 'example', 'the virtual home is not installed', 'Run: npm install zwave-mcp-server')
  if (home?.isVirtual) add('ready', 'broker', `${home.brokerUrl}, embedded, with a virtual home`)
  const sandbox = findSandbox()
  const isConfined = Object.values(mcpServers).some(entry => 'sandbox' in entry && entry.sandbox)
  if ('program' in sandbox) add('ready', 'sandbox', sandbox.program)
  else add(isConfined ? 'missing' : 'off', 'sandbox', sandbox.problem)
  const install = missingVoice()
  const gone = [voice?.whisper?.model, voice?.piperModel].find(each => each && !existsSync(each))
  if (install) add(voice ? 'missing' : 'off', 'speech', 'not installed', `Run: ${install}`)
  else add(gone ? 'missing' : 'ready', 'speech', gone ? `${gone} does not exist` : 'installed')
  if (history !== false && !hasDatabase())
    add(history ? 'missing' : 'off', 'history', 'not installed; calls are not kept', 'Run: npm i libsql')
  return findings
}

/** With what to do about it. A configured model must be available; without one, whatever is found will do. */
async function advised([state, name, text]: Finding, project: Project): Promise<Finding> {
  const { servers, model } = project.status()
  if (name === 'chat' && model) {
    const { model: named } = project.config
    if (named && !model.name.startsWith(named)) return ['failed', name, `${named}: ${model.why}`]
    const [, wanted] = /^ollama:(.*)/.exec(model.name) ?? []
    const { problem } = wanted ? await findOllamaModels({ baseUrl: ollamaAddress(process.env), wanted }) : {}
    if (problem)
      return ['failed', name, `${model.name}: ${problem}`, `Run: ollama serve, ollama pull ${wanted}`]
  }
  const server = servers.find(each => each.name === name)
  if (!server || state === 'ready') return [state, name, text]
  if (state === 'needs_login') return [state, name, text, `Run: toolpost auth ${name}`]
  const lines = server.stderr.split('\n').map(line => line.trim().slice(0, MAX_CHARACTERS))
  const telling = lines.find(line => TELLING.test(line)) ?? lines.findLast(line => line !== '')
  const entry = await project.entryOf(name)
  const advice = [telling && `stderr: ${telling}`, entry && `Check: ${hintFor(name, entry)}`]
  return ['failed', name, text.replace(/, next attempt at .*/, ''), ...advice.flatMap(line => line ?? [])]
}
