import type { Command } from 'commander'
import type { RunsFlags } from './commands/runs.ts'
import type { Within } from './context.ts'
import { UsageError } from './exit-codes.ts'

/** The commands for durable calls. They use the database directly: no gateway has to run. */
export function addDurableCommands(program: Command, within: Within): void {
  program
    .command('worker')
    .description("run durable calls with this machine's tools, and offer them to gateways elsewhere")
    .option('--pool <name>', 'pool of workers to join (default: as configured)')
    .action(({ pool }: { pool?: string }) =>
      within(async context => (await import('./commands/worker.ts')).runWorker(context), {
        durable: { role: 'worker', pool: checkedPool(pool), stays: true },
      }),
    )
  program
    .command('runs')
    .description('list durable runs, newest first; show one with its steps and result, or cancel it')
    .argument('[id]')
    .option('--cancel', 'cancel the run')
    .option('--state <state>', 'waiting, approval, running, done, failed or cancelled')
    .option('--tool <name>', 'only of this tool')
    .option('--limit <number>', 'maximum number (default: 20)')
    .option('--json', 'as JSON')
    .action((id: string | undefined, flags: RunsFlags) =>
      within(async context => (await import('./commands/runs.ts')).showRuns(context, { id, flags }), READER),
    )
  program
    .command('workers')
    .description('list the processes that run or accept durable calls, on all machines')
    .option('--json', 'as JSON')
    .action((flags: { json?: boolean }) =>
      within(async context => (await import('./commands/workers.ts')).listWorkers(context, flags), READER),
    )
}

const READER = { durable: { role: 'gateway' } } as const

function checkedPool(pool: string | undefined): string | undefined {
  if (pool === undefined || /^[A-Za-z0-9][\w-]{0,31}$/.test(pool)) return pool
  throw new UsageError(`--pool expects at most 32 letters, digits, _ or -, got '${pool}'`)
}
