import type { ToolpostConfig } from '../../project/config.ts'
import { escapeControls } from '../../logging/safe-value.ts'
import type { ServerStatus } from '../../mcp/index.ts'
import { tellingLine } from '../../mcp/telling-line.ts'
import { chooseClient } from '../../models/choose-client.ts'
import { ollamaAddress } from '../../models/ollama/address.ts'
import { findOllamaModel } from '../../models/ollama/find-model.ts'
import type { Project } from '../../project/project.ts'
import type { CommandContext } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { unlessStopped } from '../stop-signals.ts'
import { styled, type Terminal } from '../terminal.ts'
import { after } from '../up/overview.ts'
import { machineFindings, reach, withoutCredentials } from './doctor-machine.ts'
import { toolFindings } from './doctor-tools.ts'

const BROKER_TIMEOUT_MS = 3_000

/** The finding about one part: a line to show, and what to do if it does not work. */
export interface Finding {
  ok: boolean
  /** Missing, but not configured either. */
  isOff?: boolean
  text: string
  advice?: string[]
}

/** `toolpost doctor`: one finding per line; exits with 1 if something configured does not work. */
export async function examine({ project, stop, terminal }: CommandContext): Promise<number> {
  const findings = await unlessStopped(findingsOn(project), stop.signal)
  for (const finding of findings) terminal.out.write(`${lines(finding, terminal)}\n`)
  return findings.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed
}

async function findingsOn(project: Project): Promise<Finding[]> {
  const statuses = await project.ready()
  return [
    configuration(project),
    ...(await toolFindings(project, statuses)),
    ...project.unmatchedPatterns().map(text => ({ ok: true, isOff: true, text })),
    ...(await machineFindings(project)),
    ...exampleHome(project),
    ...(await brokers(project)),
    await model(project),
    ...durable(project),
    ...(await Promise.all(statuses.map(status => server(status, project)))),
  ]
}

function lines({ ok, isOff = false, text, advice = [] }: Finding, { out }: Terminal): string {
  const mark = ok ? (isOff ? styled(out, 'dim', '○') : styled(out, 'green', '✔')) : styled(out, 'red', '✘')
  const shown = [text, ...advice.map(line => `    ${line}`)].map(line => escapeControls(line))
  return `${mark} ${shown.join('\n')}`
}

function configuration({ file, tools }: Project): Finding {
  const local = tools.getTools().filter(tool => !tools.originOf(tool)).length
  return { ok: true, text: `configuration: ${file ?? 'built-in example'}, ${local} local tools` }
}

/** Only if it failed: the broker's finding covers a working one. */
function exampleHome(project: Project): Finding[] {
  const { problem } = project.status()
  if (problem === undefined) return []
  const advice = ['Rebuild it with `npm run build`, or set MQTT_BROKER_URL to the broker of a real home']
  return [{ ok: false, text: `example home: ${problem}`, advice }]
}

/** Every broker configured for a server, and that of the built-in example. */
async function brokers(project: Project): Promise<Finding[]> {
  const { config } = project
  const home = await project.exampleHome()
  const urls = new Set([...(home ? [home.brokerUrl] : []), ...brokerUrls(config)])
  return Promise.all([...urls].map(url => broker(url, home?.isVirtual === true && url === home.brokerUrl)))
}

function brokerUrls({ mcpServers = {} }: ToolpostConfig): string[] {
  return Object.values(mcpServers).flatMap(server => ('env' in server && server.env?.MQTT_BROKER_URL) || [])
}

async function broker(url: string, isVirtual: boolean): Promise<Finding> {
  const shown = withoutCredentials(url)
  const before = performance.now()
  try {
    const { hostname, port, protocol } = new URL(shown.includes('://') ? shown : `mqtt://${shown}`)
    await reach(
      hostname.replace(/^\[|\]$/g, ''),
      Number(port) || (PORTS[protocol] ?? 1_883),
      BROKER_TIMEOUT_MS,
    )
    const kind = isVirtual
      ? 'embedded, with a virtual home'
      : `answers in ${Math.round(performance.now() - before)} ms`
    return { ok: true, text: `broker ${shown}: ${kind}` }
  } catch (error) {
    const advice = [`Start it, or correct MQTT_BROKER_URL: ${shown}`]
    return { ok: false, text: `broker ${shown}: ${(error as Error).message}`, advice }
  }
}

const PORTS: Record<string, number> = {
  'mqtts:': 8_883,
  'ssl:': 8_883,
  'tls:': 8_883,
  'ws:': 80,
  'wss:': 443,
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

/** The database of durable calls, if they are configured; `ready` has tried it. */
function durable(project: Project): Finding[] {
  if (!project.config.durable) return []
  const { state, text } = project.status().durable ?? { state: 'failed', text: 'not started' }
  return [{ ok: state === 'ready', text: `durable: ${state === 'ready' ? '' : `${state}: `}${text}` }]
}

async function server(status: ServerStatus, project: Project): Promise<Finding> {
  const { name, state, tools, error, stderr, readyAfterMs, attempts } = status
  if (state === 'ready') {
    const after = readyAfterMs === undefined ? '' : ` after ${Math.round(readyAfterMs)} ms`
    return { ok: true, text: `server ${name}: ready${after}, ${tools.length} tools: ${tools.join(', ')}` }
  }
  if (state === 'needs_login')
    return {
      ok: false,
      text: `server ${name}: needs a login: ${error}`,
      advice: [`Run: toolpost auth ${name}`],
    }
  const telling = tellingLine(stderr)
  const entry = await project.entryOf(name)
  const { hintFor } = await import('../../mcp/index.ts')
  const advice = [
    ...(telling === undefined ? [] : [`stderr: ${telling}`]),
    ...(entry ? [`Check: ${hintFor(name, entry)}`] : []),
  ]
  const text = `server ${name}: ${state}${after(attempts)}: ${error ?? 'no reason given'}`
  return { ok: false, text, advice }
}
