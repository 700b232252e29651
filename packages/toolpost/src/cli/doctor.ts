import { existsSync } from 'node:fs'
import { HistoryError, hasDatabase, openFile } from '../history/database.ts'
import { hintFor, type ServerStatus } from '../mcp/index.ts'
import { findSandbox } from '../mcp/sandbox.ts'
import { tellingLine } from '../mcp/telling-line.ts'
import { chooseClient } from '../models/choose-client.ts'
import { findOllamaModel, ollamaAddress } from '../models/find-models.ts'
import { OfflineClient } from '../models/offline-client.ts'
import { zwavePackage } from '../project/example-home.ts'
import type { Project } from '../project/project.ts'
import { historyFile } from '../project/project-history.ts'
import { missingVoice } from '../project/voice.ts'
import { defaultBuiltins } from '../tools/builtins/index.ts'
import { listDocuments } from '../tools/local/documents.ts'
import { localInternals } from '../tools/local-tools.ts'
import type { CommandContext } from './context.ts'
import { EXIT, unlessStopped } from './exit.ts'
import { printResult } from './terminal.ts'
import { attemptsText } from './up.ts'

/** The finding about one part: `off` is missing, but not configured either. */
type Finding = [state: 'ok' | 'off' | 'wrong', text: string, ...advice: string[]]

/** `toolpost doctor`: one finding per line; exits with 1 if something configured does not work. */
export async function examine({ project, stop, terminal }: CommandContext): Promise<number> {
  const findings = await unlessStopped(findingsOn(project), stop)
  for (const [state, text, ...advice] of findings) {
    const mark = { ok: '✔', off: '○', wrong: '✘' }[state]
    printResult(terminal, [`${mark} ${text}`, ...advice.map(line => `    ${line}`)].join('\n'))
  }
  return findings.some(([state]) => state === 'wrong') ? EXIT.failed : EXIT.ok
}

async function findingsOn(project: Project): Promise<Finding[]> {
  const servers = await project.ready()
  const { file, tools, config, executor } = project
  const { documents, tools: declared = [], mcpServers = {}, voice } = config
  const { problem, durable } = project.status()
  const findings: Finding[] = []
  const add = (isFine: boolean, text: string, ...advice: string[]) =>
    findings.push([isFine ? 'ok' : 'wrong', text, ...advice])
  const local = tools.getTools().filter(tool => !tools.originOf(tool)).length
  add(true, `configuration: ${file ?? 'built-in example'}, ${local} local tools`)
  if (documents !== undefined)
    await listDocuments(documents).then(
      ({ size }) => add(true, `documents: ${size} ${size === 1 ? 'file' : 'files'} in ${documents}`),
      (error: Error) => add(false, `documents: ${error.message}`),
    )
  const known = { builtin: defaultBuiltins, internal: localInternals({ documents }) }
  for (const { name, implementation: given } of declared)
    if (given.type !== 'mock' && !Object.hasOwn(known[given.type], given.handler))
      add(false, `tool ${name}: ${given.type} handler '${given.handler}' not found`)
  const sentences = new OfflineClient({ executor, sentences: config.sentences })
  await sentences.load()
  for (const text of sentences.problems()) add(false, `sentences: ${text}`)
  for (const text of project.unmatchedPatterns()) findings.push(['off', text])
  const home = file === undefined ? await project.exampleHome() : undefined
  if (file === undefined && zwavePackage() === undefined)
    findings.push(['off', 'example: the virtual home is not installed', 'Run: npm install zwave-mcp-server'])
  if (problem !== undefined) add(false, `example home: ${problem}`)
  if (home?.isVirtual) add(true, `broker ${home.brokerUrl}: embedded, with a virtual home`)
  const sandbox = findSandbox()
  const isConfined = Object.values(mcpServers).some(
    entry => 'sandbox' in entry && entry.sandbox !== undefined,
  )
  if ('program' in sandbox) add(true, `sandbox: ${sandbox.program}`)
  else findings.push([isConfined ? 'wrong' : 'off', `sandbox: ${sandbox.problem}`])
  const install = missingVoice()
  const gone = [voice?.whisper?.model, voice?.piperModel].find(each => each && !existsSync(each))
  if (install) findings.push([voice ? 'wrong' : 'off', 'speech: not installed', `Run: ${install}`])
  else add(gone === undefined, gone === undefined ? 'speech: installed' : `speech: ${gone} does not exist`)
  findings.push(history(project), await model(project))
  if (config.durable) add(durable?.state === 'ready', `durable: ${durable?.text ?? 'not started'}`)
  return [...findings, ...(await Promise.all(servers.map(status => server(status, project))))]
}

function history(project: Project): Finding {
  const file = historyFile(project)
  if (file === undefined) return ['off', 'history: off; calls are not kept']
  const missing = project.config.history ? 'wrong' : 'off'
  if (!hasDatabase()) return [missing, 'history: not installed; calls are not kept', 'Run: npm i libsql']
  if (!existsSync(file)) return ['ok', `history: ${file} (created by the first call)`]
  try {
    openFile(file).database.close()
    return ['ok', `history: ${file}`]
  } catch (error) {
    const isOutdated = error instanceof HistoryError && error.reason === 'outdated'
    const rest = isOutdated ? '; the next call moves it aside and starts a new one' : ''
    return [isOutdated ? 'ok' : 'wrong', `history: ${(error as Error).message}${rest}`]
  }
}

/** A configured model must be available; without one, whatever is found will do. */
async function model({ config, executor }: Project): Promise<Finding> {
  try {
    const { name, why } = await chooseClient({ config, executor })
    const [, wanted] = /^ollama:(.*)/.exec(name) ?? []
    const { problem } = wanted ? await findOllamaModel({ baseUrl: ollamaAddress(process.env), wanted }) : {}
    if (problem === undefined) return ['ok', `model ${name}: ${why}`]
    return ['wrong', `model ${name}: ${problem}`, `Run: ollama serve, ollama pull ${wanted}`]
  } catch (error) {
    return ['wrong', `model ${config.model}: ${(error as Error).message}`]
  }
}

async function server(status: ServerStatus, project: Project): Promise<Finding> {
  const { name, state, tools, error = 'no reason given', stderr, readyAfterMs = 0, attempts } = status
  const ready = `ready after ${Math.round(readyAfterMs)} ms, ${tools.length} tools: ${tools.join(', ')}`
  if (state === 'ready') return ['ok', `server ${name}: ${ready}`]
  if (state === 'needs_login')
    return ['wrong', `server ${name}: needs a login: ${error}`, `Run: toolpost auth ${name}`]
  const [telling, entry] = [tellingLine(stderr), await project.entryOf(name)]
  const advice = [telling && `stderr: ${telling}`, entry && `Check: ${hintFor(name, entry)}`]
  const problem = `server ${name}: ${state}${attemptsText(attempts)}: ${error}`
  return ['wrong', problem, ...advice.flatMap(line => line ?? [])]
}
