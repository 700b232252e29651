// How long the command line takes to start, compared with a Node that does nothing.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fixed, printGoals, printTable, times } from './report.mjs'
import { interleave, median, ratio } from './rounds.mjs'

const WARM_UP_ROUNDS = 3
const ROUNDS = 40
const program = fileURLToPath(new URL('../../packages/toolpost/bin/toolpost.cjs', import.meta.url))

const COMMANDS = [
  { id: 'node', title: "node -e ''", args: ['-e', ''], prints: /^$/ },
  { id: 'version', title: 'toolpost --version', args: [program, '--version'], prints: /^\d+\.\d+\.\d+\S*$/ },
  { id: 'call', title: 'toolpost call echo x=1', args: [program, 'call', 'echo', 'x=1'], prints: /1/ },
  {
    id: 'configured',
    title: '… with configuration and history',
    args: [program, 'call', 'echo', 'x=1', '--config', join('configured', 'toolpost.json')],
    prints: /1/,
  },
]

// A folder without a configuration, as for a new user, and one inside it that has one.
const cwd = mkdtempSync(join(tmpdir(), 'toolpost-bench-'))
const CONFIGURATION = {
  mcpServers: { unused: { command: 'node', args: ['server.js'] } },
  policy: [{ tools: 'delete_*', then: 'deny' }],
  history: {},
}
try {
  mkdirSync(join(cwd, 'configured'))
  writeFileSync(join(cwd, 'configured', 'toolpost.json'), JSON.stringify(CONFIGURATION))
  for (const command of COMMANDS) verify(command)
  const taken = await interleave({
    contenders: COMMANDS,
    warmUpRounds: WARM_UP_ROUNDS,
    rounds: ROUNDS,
    measure: runMs,
  })
  report(Object.fromEntries([...taken].map(([{ id }, numbers]) => [id, numbers])))
} finally {
  rmSync(cwd, { recursive: true, force: true })
}

function verify({ title, args, prints }) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  if (status !== 0 || !prints.test(stdout.trim())) {
    throw new Error(`'${title}' exited with ${status} and printed ${JSON.stringify(stdout)} ${stderr}`)
  }
}

function runMs({ title, args }) {
  const begin = performance.now()
  const { status } = spawnSync(process.execPath, args, { cwd, stdio: 'ignore' })
  const took = performance.now() - begin
  if (status !== 0) throw new Error(`'${title}' exited with ${status}`)
  return took
}

function report(timings) {
  console.log(`Node ${process.version}; ${ROUNDS} interleaved rounds.\n`)
  const rows = COMMANDS.map(({ id, title }) => [
    title,
    fixed(median(timings[id]), 1),
    times(ratio(timings[id], timings.node)),
  ])
  printTable(['', 'ms', '× empty node (10–90 % of rounds)'], rows)
  const goal = (title, id, limit) => {
    const { median: value } = ratio(timings[id], timings.node)
    return {
      goal: `${title}: ≤ ${limit} × an empty node`,
      measured: `${fixed(value)} ×`,
      reached: value <= limit,
    }
  }
  printGoals([
    goal('toolpost call echo x=1', 'call', 2),
    goal('with configuration and history', 'configured', 2),
    goal('toolpost --version', 'version', 1.3),
  ])
}
