import { existsSync } from 'node:fs'
import { connect } from 'node:net'
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
import { EXIT } from './exit-codes.ts'
import { unlessStopped } from './stop-signals.ts'
import { printResult, styled, type Terminal } from './terminal.ts'

const REACH_MS = 3_000

/** The finding about one part: `off` is missing, but not configured either. */
type Finding = [state: 'ok' | 'off' | 'wrong', text: string, ...advice: string[]]

/** `toolpost doctor`: one finding per line; exits with 1 if something configured does not work. */
export async function examine({ project, stop, terminal }: CommandContext): Promise<number> {
  const findings = await unlessStopped(findingsOn(project), stop.signal)
  for (const finding of findings) print(finding, terminal)
  return findings.some(([state]) => state === 'wrong') ? EXIT.failed : EXIT.ok
}

function print([state, text, ...advice]: Finding, terminal: Terminal): void {
  const { out } = terminal
  const marks = {
    ok: styled(out, 'green', '✔'),
    off: styled(out, 'dim', '○'),
    wrong: styled(out, 'red', '✘'),
  }
  out.write(`${marks[state]} `)
  printResult(terminal, [text, ...advice.map(line => `    ${line}`)].join('\n'))
}

async function findingsOn(project: Project): Promise<Finding[]> {
  const servers = await project.ready()
  const { file, tools, config } = project
  const local = tools.getTools().filter(tool => !tools.originOf(tool)).length
  const { problem, durable } = project.status()
  const isHomeMissing = file === undefined && zwavePackage() === undefined
  const findings: (Finding | undefined)[] = [
    ['ok', `configuration: ${file ?? 'built-in example'}, ${local} local tools`],
    await documents(config.documents),
    ...handlers(project),
    ...(await sentences(project)),
    ...project.unmatchedPatterns().map((text): Finding => ['off', text]),
    isHomeMissing
      ? ['off', 'example: the virtual home is not installed', 'Run: npm install zwave-mcp-server']
      : undefined,
    problem === undefined ? undefined : ['wrong', `example home: ${problem}`],
    sandbox(project),
    speech(project),
    history(project),
    ...(await reachable(project)),
    await model(project),
    config.durable
      ? [durable?.state === 'ready' ? 'ok' : 'wrong', `durable: ${durable?.text ?? 'not started'}`]
      : undefined,
    ...(await Promise.all(servers.map(status => server(status, project)))),
  ]
  return findings.filter(finding => finding !== undefined)
}

async function documents(folder: string | undefined): Promise<Finding | undefined> {
  if (folder === undefined) return undefined
  try {
    const { size } = await listDocuments(folder)
    return ['ok', `documents: ${size} ${size === 1 ? 'file' : 'files'} in ${folder}`]
  } catch (error) {
    return ['wrong', `documents: ${(error as Error).message}`]
  }
}

/** Declared tools without an implementation. */
function handlers({ config: { tools = [], documents: folder } }: Project): Finding[] {
  const known = { builtin: defaultBuiltins, internal: localInternals({ documents: folder }) }
  return tools.flatMap(({ name, implementation }): Finding[] => {
    if (implementation.type === 'mock') return []
    const { type, handler = '' } = implementation
    const isKnown = Object.hasOwn(known[type], handler)
    return isKnown ? [] : [['wrong', `tool ${name}: ${type} handler '${handler}' not found`]]
  })
}

/** Sentences that can never be understood. */
async function sentences({ executor, config }: Project): Promise<Finding[]> {
  const client = new OfflineClient({ executor, sentences: config.sentences })
  await client.load()
  return client.problems().map((problem): Finding => ['wrong', `sentences: ${problem}`])
}

/** Whether servers can be confined; missing only if one is to be. */
function sandbox({ config: { mcpServers = {} } }: Project): Finding {
  const found = findSandbox()
  const isUsed = Object.values(mcpServers).some(entry => 'sandbox' in entry && entry.sandbox !== undefined)
  if ('program' in found) return ['ok', `sandbox: ${found.program}`]
  return [isUsed ? 'wrong' : 'off', `sandbox: ${found.problem}`]
}

function speech({ config: { voice } }: Project): Finding {
  const install = missingVoice()
  if (install) return [voice ? 'wrong' : 'off', 'speech: not installed', `Run: ${install}`]
  const gone = [voice?.whisper?.model, voice?.piperModel].find(
    each => each !== undefined && !existsSync(each),
  )
  return gone === undefined ? ['ok', 'speech: installed'] : ['wrong', `speech: ${gone} does not exist`]
}

function history(project: Project): Finding {
  const file = historyFile(project)
  if (file === undefined) return ['off', 'history: off; calls are not kept']
  if (!hasDatabase())
    return [
      project.config.history ? 'wrong' : 'off',
      'history: not installed; calls are not kept',
      'Run: npm i libsql',
    ]
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

/** The brokers of servers and of the example. The database for durable calls reports on itself. */
async function reachable(project: Project): Promise<Finding[]> {
  const home = await project.exampleHome()
  const urls = Object.values(project.config.mcpServers ?? {}).flatMap(
    entry => ('env' in entry && entry.env?.MQTT_BROKER_URL) || [],
  )
  const brokers = new Set([...(home ? [home.brokerUrl] : []), ...urls])
  return Promise.all([...brokers].map(url => reach(url, home?.isVirtual === true && url === home.brokerUrl)))
}

async function reach(url: string, isVirtual: boolean): Promise<Finding> {
  const shown = url.replace(/^([a-z]+:\/\/)?.*@/i, '$1').replace(/[?#].*$/s, '')
  const startedAt = performance.now()
  try {
    const { hostname, port, protocol } = new URL(shown.includes('://') ? shown : `mqtt://${shown}`)
    const usual = { 'mqtts:': 8_883, 'ws:': 80, 'wss:': 443 }[protocol] ?? 1_883
    await new Promise<void>((resolve, reject) => {
      const host = hostname.replace(/^\[|\]$/g, '')
      const socket = connect({ host, port: Number(port) || usual, timeout: REACH_MS })
      socket.once('connect', () => resolve(void socket.destroy()))
      socket.once('timeout', () => socket.destroy(new Error(`no answer within ${REACH_MS} ms`)))
      socket.once('error', reject)
    })
    const took = `answers in ${Math.round(performance.now() - startedAt)} ms`
    return ['ok', `broker ${shown}: ${isVirtual ? 'embedded, with a virtual home' : took}`]
  } catch (error) {
    return ['wrong', `broker ${shown}: ${(error as Error).message}`, 'Start it, or correct MQTT_BROKER_URL']
  }
}

/** A configured model must be available; without one, whatever is found will do. */
async function model({ config, executor }: Project): Promise<Finding> {
  try {
    const { name, why } = await chooseClient({ config, executor })
    const wanted = name.startsWith('ollama:') ? name.slice('ollama:'.length) : undefined
    const { problem } = wanted ? await findOllamaModel({ baseUrl: ollamaAddress(process.env), wanted }) : {}
    if (problem === undefined) return ['ok', `model ${name}: ${why}`]
    return ['wrong', `model ${name}: ${problem}`, `Run: ollama serve, ollama pull ${wanted}`]
  } catch (error) {
    return ['wrong', `model ${config.model}: ${(error as Error).message}`]
  }
}

async function server(status: ServerStatus, project: Project): Promise<Finding> {
  const { name, state, tools, error, stderr, readyAfterMs, attempts } = status
  if (state === 'ready') {
    const took = readyAfterMs === undefined ? '' : ` after ${Math.round(readyAfterMs)} ms`
    return ['ok', `server ${name}: ready${took}, ${tools.length} tools: ${tools.join(', ')}`]
  }
  if (state === 'needs_login')
    return ['wrong', `server ${name}: needs a login: ${error}`, `Run: toolpost auth ${name}`]
  const telling = tellingLine(stderr)
  const entry = await project.entryOf(name)
  return [
    'wrong',
    `server ${name}: ${state}${attemptsText(attempts)}: ${error ?? 'no reason given'}`,
    ...(telling === undefined ? [] : [`stderr: ${telling}`]),
    ...(entry ? [`Check: ${hintFor(name, entry)}`] : []),
  ]
}

/** Empty if there was no attempt. */
export function attemptsText(attempts: number): string {
  return attempts === 0 ? '' : ` after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
}
