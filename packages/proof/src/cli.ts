import { spawnSync } from 'node:child_process'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { CASES } from './cases.ts'
import { isGoodEnough, markdown, score } from './report.ts'
import { type DriverReport, type DriverSource, runDriver } from './run.ts'

const FOLDER = fileURLToPath(new URL('../drivers', import.meta.url))
const PEERS = ['langchain', 'ai-sdk', 'openai-agents', 'mastra']
const DRIVERS: readonly string[] = ['toolpost', 'toolpost-http', 'toolpost-mcp', ...PEERS]
const USAGE = `Usage: toolpost-proof run --driver <module> [options]

  --driver <name>  a module, or one of: ${DRIVERS.join(', ')}; may be repeated
  --all            also all other built-in drivers, to compare; writes RESULTS.md
  --only <family>  only this family or case; may be repeated
  --min <share>    the share of supported cases that must pass (0.95)
  --json           the verdicts as JSON in place of the table
`
const RESULTS = fileURLToPath(new URL('../RESULTS.md', import.meta.url))
/** How many drivers run at a time: they mostly wait. */
const JOBS = 3
/** Whether a case is this one, or of this family. */
const isIn = (id: string, name: string) => `${id}/`.startsWith(`${name}/`)
const say = (text: string) => void process.stderr.write(`${text}\n`)

export async function main(args: string[]): Promise<void> {
  try {
    await run(args)
  } catch (error) {
    say(`${(error as Error).message}\n\n${USAGE}`)
    process.exitCode = 2
  }
}

async function run(args: string[]): Promise<void> {
  const several = { type: 'string', multiple: true, default: [] as string[] } as const
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      driver: several,
      only: several,
      all: { type: 'boolean', default: false },
      min: { type: 'string', default: '0.95' },
      json: { type: 'boolean', default: false },
    },
  })
  const { driver, only, all } = values
  const names = [...new Set([...(all ? DRIVERS : []), ...driver])]
  const min = Number(values.min)
  if (positionals.join() !== 'run' || names.length === 0) throw new Error('Name a driver')
  if (!(min >= 0 && min <= 1)) throw new Error(`--min ${values.min}: expected a number from 0 to 1`)
  const unknown = only.find(name => !CASES.some(({ id }) => isIn(id, name)))
  if (unknown !== undefined) throw new Error(`There is no family or case '${unknown}'`)
  const reports = await runDrivers(names.map(findDriver), only)
  const results = markdown(reports, new Date().toISOString().slice(0, 10))
  process.stdout.write(values.json ? `${JSON.stringify(reports, null, 2)}\n` : results)
  if (all && only.length === 0) writeFileSync(RESULTS, results)
  // Those that are only compared do not count, unless nothing else was asked for.
  const counted = driver.length > 0 ? driver : names
  const bad = reports.filter((report, at) => counted.includes(names[at] ?? '') && !isGoodEnough(report, min))
  if (bad.length > 0) say(`Not good enough: ${bad.map(report => report.driver).join(', ')}`)
  process.exitCode = bad.length > 0 ? 1 : 0
}

async function runDrivers(
  sources: readonly DriverSource[],
  only: readonly string[],
): Promise<DriverReport[]> {
  const cases = CASES.filter(({ id }) => only.length === 0 || only.some(name => isIn(id, name)))
  const reports: DriverReport[] = []
  const queue = sources.entries()
  const worker = async () => {
    // All workers take from the same iterator.
    for (const [at, source] of queue) {
      const report = await runDriver(source, cases, ({ id, state, seen, ms }) =>
        say(`${source.name}  ${id}  ${state}${seen ? `: ${seen}` : ''}  (${ms} ms)`),
      )
      const { passed, supported } = score(report.verdicts)
      say(`${source.name}: ${passed} of ${supported} passed`)
      reports[at] = report
    }
  }
  await Promise.all(Array.from({ length: JOBS }, worker))
  return reports
}

/** A built-in driver by name, or a module by path. Installs the packages of a peer when it is first asked for. */
export function findDriver(name: string): DriverSource {
  const isOwn = DRIVERS.includes(name)
  const file = isOwn ? join(FOLDER, `${name}.mjs`) : resolve(name)
  if (!existsSync(file)) throw new Error(`There is no driver '${name}'`)
  const node = PEERS.includes(name) ? installedNode() : process.execPath
  return { name: basename(file, '.mjs'), file, node }
}

function installedNode(): string {
  const installed = join(FOLDER, 'node_modules/.package-lock.json')
  const lock = join(FOLDER, 'package-lock.json')
  if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
    process.stderr.write('Installing the packages of the peers (npm ci) …\n')
    const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
    const { status } = spawnSync('npm', args, { cwd: FOLDER, stdio: ['ignore', 2, 2] })
    if (status !== 0) throw new Error('The packages of the peers cannot be installed')
  }
  return join(FOLDER, 'node_modules/node/bin/node')
}
