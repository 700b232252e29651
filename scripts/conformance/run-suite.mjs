import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'

const SCENARIO_TIMEOUT_MS = 30_000
/** The suite's name for scenarios that belong to no version of the protocol. */
export const EXTENSION = 'extension'

/**
 * Runs the suite, or one scenario of it: `[{ scenario, problems, isTested }]`. `isTested` is false if there was nothing to
 * test, which is not an error. `target` is `['--url', url]` or `['--command', command]`.
 */
export async function runSuite(installed, run) {
  // The suite alone would start all clients in parallel, and they would miss their deadlines on a small machine.
  if (run.side === 'server' && run.version !== EXTENSION && !run.scenario)
    return runOnce(installed, { ...run, choice: ['--suite', 'all'] })
  const names = (await scenariosOf(installed, run)).filter(name => !run.scenario || name === run.scenario)
  return inParallel(names, name => runOnce(installed, { ...run, choice: ['--scenario', name] }))
}

async function inParallel(names, run) {
  const left = [...names]
  const results = []
  const work = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) results.push(...(await run(name)))
  }
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work))
  return results
}

async function scenariosOf({ node, suite }, { side, version }) {
  const listed = await output(node, [suite, 'list', `--${side}`])
  return [...listed.matchAll(/^ +- (\S+) \[(.*)\]$/gm)]
    .filter(([, , versions]) => versions.split(',').includes(version))
    .map(([, name]) => name)
}

async function runOnce({ node, suite }, { side, version, target, choice }) {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-conformance-results-'))
  const args = [suite, side, ...target, ...choice, '-o', folder, '--timeout', String(SCENARIO_TIMEOUT_MS)]
  if (version !== EXTENSION) args.push('--spec-version', version)
  try {
    const said = await output(node, args)
    const results = resultsIn(folder, side)
    if (results.length === 0) throw new Error(`The suite has no results for ${choice.join(' ')}:\n${said}`)
    return results
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The program's output. Its exit code is ignored, because its result files say more. */
function output(node, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', data => {
        text = (text + data).slice(-20_000)
      })
    child.on('error', reject)
    child.on('close', () => resolve(text))
  })
}

/** A scenario's folder is `[server-]<scenario>-<time>`; some scenarios have a `/` in their name. */
function resultsIn(folder, side) {
  const files = readdirSync(folder, { recursive: true }).filter(file => file.endsWith('checks.json'))
  return files.map(file => {
    const name = file.replace(/-\d{4}-\d\d-\d\dT[^/]*\/checks\.json$/, '')
    const scenario = side === 'server' ? name.replace(/^server-/, '') : name
    const checks = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    const of = wanted => checks.filter(({ status }) => status === wanted)
    const isTested = of('SUCCESS').some(({ id }) => !id.startsWith('wire-schema'))
    return { scenario, isTested, problems: of('FAILURE').map(describe) }
  })
}

function describe({ id, description = '', errorMessage = description }) {
  return `${id}: ${errorMessage}`
}
