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
import { printResult, styled } from './terminal.ts'
import { attemptsText } from './up.ts'

/** The finding about one part: `off` is missing, but not configured either. */
type Finding = [state: 'ok' | 'off' | 'wrong', text: string, ...advice: string[]]

/** `toolpost doctor`: one finding per line; exits with 1 if something configured does not work. */
export async function examine({ project, stop, terminal }: CommandContext): Promise<number> {
  const { out } = terminal
  const marks = { ok: styled(out, 'green', '✔'), off: '○', wrong: styled(out, 'red', '✘') }
  const findings = await unlessStopped(findingsOn(project), stop)
  for (const [state, text, ...advice] of findings) {
    out.write(`${marks[state]} `)
    printResult(terminal, [text, ...advice.map(line => `    ${line}`)].join('\n'))
  }
  return findings.some(([state]) => state === 'wrong') ? EXIT.failed : EXIT.ok
}

async function findingsOn(project: Project): Promise<Finding[]> {
  const servers = await project.ready()
  const { file, tools, config } = project
  const local = tools.getTools().filter(tool => !tools.originOf(tool)).length
  const { problem, durable } = project.status()
  const home = file === undefined ? await project.exampleHome() : undefined
  const findings: (Finding | false | undefined)[] = [
    ['ok', `configuration: ${file ?? 'built-in example'}, ${local} local tools`],
    await documents(config.documents),
    ...handlers(project),
    ...(await sentences(project)),
    ...project.unmatchedPatterns().map((text): Finding => ['off', text]),
    file === undefined &&
      zwavePackage() === undefined && [
        'off',
        'example: the virtual home is not installed',
        'Run: npm install zwave-mcp-server',
      ],
    problem !== undefined && ['wrong', `example home: ${problem}`],
    home?.isVirtual && ['ok', `broker ${home.brokerUrl}: embedded, with a virtual home`],
    sandbox(project),
    speech(project),
    history(project),
    await model(project),
    config.durable && [
      durable?.state === 'ready' ? 'ok' : 'wrong',
      `durable: ${durable?.text ?? 'not started'}`,
    ],
    ...(await Promise.all(servers.map(status => server(status, project)))),
  ]
  return findings.filter(finding => Array.isArray(finding))
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
  return tools.flatMap(({ name, implementation: given }): Finding[] => {
    if (given.type === 'mock' || Object.hasOwn(known[given.type], given.handler)) return []
    return [['wrong', `tool ${name}: ${given.type} handler '${given.handler}' not found`]]
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
  const gone = [voice?.whisper?.model, voice?.piperModel].find(file => file && !existsSync(file))
  return gone === undefined ? ['ok', 'speech: installed'] : ['wrong', `speech: ${gone} does not exist`]
}

function history(project: Project): Finding {
  const file = historyFile(project)
  if (file === undefined) return ['off', 'history: off; calls are not kept']
  const isWanted = project.config.history ? 'wrong' : 'off'
  if (!hasDatabase()) return [isWanted, 'history: not installed; calls are not kept', 'Run: npm i libsql']
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
    const wanted = name.startsWith('ollama:') ? name.slice('ollama:'.length) : undefined
    const { problem } = wanted ? await findOllamaModel({ baseUrl: ollamaAddress(process.env), wanted }) : {}
    if (problem === undefined) return ['ok', `model ${name}: ${why}`]
    return ['wrong', `model ${name}: ${problem}`, `Run: ollama serve, ollama pull ${wanted}`]
  } catch (error) {
    return ['wrong', `model ${config.model}: ${(error as Error).message}`]
  }
}

async function server(status: ServerStatus, project: Project): Promise<Finding> {
  const { name, state, tools, error, stderr, readyAfterMs = 0, attempts } = status
  const took = Math.round(readyAfterMs)
  if (state === 'ready')
    return ['ok', `server ${name}: ready after ${took} ms, ${tools.length} tools: ${tools.join(', ')}`]
  if (state === 'needs_login')
    return ['wrong', `server ${name}: needs a login: ${error}`, `Run: toolpost auth ${name}`]
  const [telling, entry] = [tellingLine(stderr), await project.entryOf(name)]
  return [
    'wrong',
    `server ${name}: ${state}${attemptsText(attempts)}: ${error ?? 'no reason given'}`,
    ...(telling === undefined ? [] : [`stderr: ${telling}`]),
    ...(entry ? [`Check: ${hintFor(name, entry)}`] : []),
  ]
}
