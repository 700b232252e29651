import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { HistoryError, hasDatabase, openFile } from '../history/database.ts'
import { escapeControls } from '../logging/safe-value.ts'
import { hintFor, type ServerStatus } from '../mcp/index.ts'
import { tellingLine } from '../mcp/telling-line.ts'
import { chooseClient } from '../models/choose-client.ts'
import { readSentences } from '../models/offline/sentence-book.ts'
import { readSettings } from '../models/offline/spoken-words.ts'
import { ollamaAddress } from '../models/ollama/address.ts'
import { findOllamaModel } from '../models/ollama/find-model.ts'
import { zwavePackage } from '../project/example-home.ts'
import type { Project } from '../project/project.ts'
import { historyFile } from '../project/project-history.ts'
import { missingVoice } from '../project/voice.ts'
import { defaultBuiltins } from '../tools/builtins/index.ts'
import type { ToolDeclaration } from '../tools/declared-tools.ts'
import { listDocuments } from '../tools/local/documents.ts'
import { localInternals } from '../tools/local-tools.ts'
import type { CommandContext } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { unlessStopped } from './stop-signals.ts'
import { styled, type Terminal } from './terminal.ts'
import { after } from './up-texts.ts'

const REACH_MS = 3_000

/** The finding about one part: a line to show, and what to do if it does not work. */
interface Finding {
  ok: boolean
  /** Missing, but not configured either. */
  isOff?: boolean
  text: string
  advice?: string[]
}

/** `toolpost doctor`: one finding per line; exits with 1 if something configured does not work. */
export async function examine({
  project,
  stop,
  terminal,
}: Pick<CommandContext, 'project' | 'stop' | 'terminal'>): Promise<number> {
  const findings = await unlessStopped(findingsOn(project), stop.signal)
  for (const finding of findings) terminal.out.write(`${lines(finding, terminal)}\n`)
  return findings.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed
}

async function findingsOn(project: Project): Promise<Finding[]> {
  const servers = await project.ready()
  const { file, tools } = project
  const local = tools.getTools().filter(tool => !tools.originOf(tool)).length
  const { problem, durable } = project.status()
  const isHomeMissing = file === undefined && zwavePackage() === undefined
  return [
    { ok: true, text: `configuration: ${file ?? 'built-in example'}, ${local} local tools` },
    ...(await documents(project)),
    ...handlers(project),
    ...sentences(project),
    ...project.unmatchedPatterns().map(text => ({ ok: true, isOff: true, text })),
    ...(isHomeMissing
      ? [off('example: the virtual home is not installed', 'npm install zwave-mcp-server')]
      : []),
    ...(problem === undefined ? [] : [{ ok: false, text: `example home: ${problem}` }]),
    speech(project),
    history(project),
    ...(await reachable(project)),
    await model(project),
    ...(project.config.durable
      ? [{ ok: durable?.state === 'ready', text: `durable: ${durable?.text ?? 'not started'}` }]
      : []),
    ...(await Promise.all(servers.map(status => server(status, project)))),
  ]
}

function off(text: string, command: string, ok = true): Finding {
  return { ok, isOff: true, text, advice: [`Run: ${command}`] }
}

function lines({ ok, isOff = false, text, advice = [] }: Finding, { out }: Terminal): string {
  const mark = ok ? (isOff ? styled(out, 'dim', '○') : styled(out, 'green', '✔')) : styled(out, 'red', '✘')
  const shown = [text, ...advice.map(line => `    ${line}`)].map(line => escapeControls(line))
  return `${mark} ${shown.join('\n')}`
}

async function documents({ config: { documents: folder } }: Project): Promise<Finding[]> {
  if (folder === undefined) return []
  try {
    const { size } = await listDocuments(folder)
    return [{ ok: true, text: `documents: ${size} ${size === 1 ? 'file' : 'files'} in ${folder}` }]
  } catch (error) {
    return [{ ok: false, text: `documents: ${(error as Error).message}` }]
  }
}

/** Declared tools without an implementation. */
function handlers({ config: { tools = [], documents: folder } }: Project): Finding[] {
  const known = { builtin: defaultBuiltins, internal: localInternals({ documents: folder }) }
  return tools.flatMap(({ name, implementation }: ToolDeclaration) => {
    if (implementation.type === 'mock') return []
    const { type, handler = '' } = implementation
    const isKnown = Object.hasOwn(known[type], handler)
    return isKnown ? [] : { ok: false, text: `tool ${name}: ${type} handler '${handler}' not found` }
  })
}

/** Sentences that can never be understood. */
function sentences({ tools, config }: Project): Finding[] {
  const spoken = readSettings(config.sentences)
  const general = spoken.problems.map(problem => ({ ok: false, text: `sentences: the ${problem}` }))
  const byTool = tools.getTools().flatMap(tool => {
    const { problems } = readSentences(tool, tools, spoken)
    return problems.map(problem => ({ ok: false, text: `tool ${tool.name}: the ${problem}` }))
  })
  return [...general, ...byTool]
}

function speech({ config: { voice } }: Project): Finding {
  const install = missingVoice()
  if (install) return off('speech: not installed', install, voice === undefined)
  const files = [voice?.whisper?.model, voice?.piperModel].filter(each => each !== undefined)
  const gone = files.find(each => !existsSync(each))
  return gone === undefined
    ? { ok: true, text: 'speech: installed' }
    : { ok: false, text: `speech: ${gone} does not exist` }
}

function history(project: Project): Finding {
  const file = historyFile(project)
  if (file === undefined) return { ok: true, isOff: true, text: 'history: off; calls are not kept' }
  const isWanted = project.config.history !== undefined
  if (!hasDatabase()) return off('history: not installed; calls are not kept', 'npm i libsql', !isWanted)
  if (!existsSync(file)) return { ok: true, text: `history: ${file} (created by the first call)` }
  try {
    openFile(file).database.close()
    return { ok: true, text: `history: ${file}` }
  } catch (error) {
    const isOutdated = error instanceof HistoryError && error.reason === 'outdated'
    const rest = isOutdated ? '; the next call moves it aside and starts a new one' : ''
    return { ok: isOutdated, text: `history: ${(error as Error).message}${rest}` }
  }
}

/** The brokers of servers and of the example, and the database. */
async function reachable(project: Project): Promise<Finding[]> {
  const { mcpServers = {}, durable } = project.config
  const home = await project.exampleHome()
  const urls = Object.values(mcpServers).flatMap(
    server => ('env' in server && server.env?.MQTT_BROKER_URL) || [],
  )
  const brokers = new Set([...(home ? [home.brokerUrl] : []), ...urls])
  const virtual = home?.isVirtual ? home.brokerUrl : undefined
  const database = isUrl(durable) ? [reach('database', durable.databaseUrl, 'durable.databaseUrl')] : []
  return Promise.all([
    ...[...brokers].map(url => reach('broker', url, 'MQTT_BROKER_URL', url === virtual)),
    ...database,
  ])
}

function isUrl(durable: unknown): durable is { databaseUrl: string } {
  return typeof (durable as { databaseUrl?: unknown } | undefined)?.databaseUrl === 'string'
}

const PORTS: Record<string, number> = {
  'mqtts:': 8_883,
  'ws:': 80,
  'wss:': 443,
  'postgres:': 5_432,
  'postgresql:': 5_432,
}

async function reach(what: string, url: string, setting: string, isVirtual = false): Promise<Finding> {
  const shown = url.replace(/^([a-z]+:\/\/)?.*@/i, '$1').replace(/[?#].*$/s, '')
  const startedAt = performance.now()
  try {
    const { hostname, port, protocol } = new URL(shown.includes('://') ? shown : `mqtt://${shown}`)
    const host = hostname.replace(/^\[|\]$/g, '') || '127.0.0.1'
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ host, port: Number(port) || (PORTS[protocol] ?? 1_883), timeout: REACH_MS })
      socket.once('connect', () => resolve(void socket.destroy()))
      socket.once('timeout', () => socket.destroy(new Error(`no answer within ${REACH_MS} ms`)))
      socket.once('error', reject)
    })
    const took = `answers in ${Math.round(performance.now() - startedAt)} ms`
    return { ok: true, text: `${what} ${shown}: ${isVirtual ? 'embedded, with a virtual home' : took}` }
  } catch (error) {
    const advice = [`Start it, or correct ${setting}`]
    return { ok: false, text: `${what} ${shown}: ${(error as Error).message}`, advice }
  }
}

/** A configured model must be available; without one, whatever is found will do. */
async function model({ config, executor }: Project): Promise<Finding> {
  try {
    const { name, why } = await chooseClient({ config, executor })
    const wanted = name.startsWith('ollama:') ? name.slice('ollama:'.length) : undefined
    const { problem } = wanted ? await findOllamaModel({ baseUrl: ollamaAddress(process.env), wanted }) : {}
    const text = `model ${name}: ${problem ?? why}`
    return problem
      ? { ok: false, text, advice: [`Run: ollama serve, ollama pull ${wanted}`] }
      : { ok: true, text }
  } catch (error) {
    return { ok: false, text: `model ${config.model}: ${(error as Error).message}` }
  }
}

async function server(status: ServerStatus, project: Project): Promise<Finding> {
  const { name, state, tools, error, stderr, readyAfterMs, attempts } = status
  if (state === 'ready') {
    const took = readyAfterMs === undefined ? '' : ` after ${Math.round(readyAfterMs)} ms`
    return { ok: true, text: `server ${name}: ready${took}, ${tools.length} tools: ${tools.join(', ')}` }
  }
  if (state === 'needs_login')
    return {
      ok: false,
      text: `server ${name}: needs a login: ${error}`,
      advice: [`Run: toolpost auth ${name}`],
    }
  const telling = tellingLine(stderr)
  const entry = await project.entryOf(name)
  const advice = [
    ...(telling === undefined ? [] : [`stderr: ${telling}`]),
    ...(entry ? [`Check: ${hintFor(name, entry)}`] : []),
  ]
  return {
    ok: false,
    text: `server ${name}: ${state}${after(attempts)}: ${error ?? 'no reason given'}`,
    advice,
  }
}
