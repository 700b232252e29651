import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, CommanderError, Option } from 'commander'
import { compiledFile, packageRoot } from '../util/package-root.ts'
import type { Context, Flags } from './context.ts'
import { EXIT, listenForSignals, Stopped, stop, unlessStopped } from './process.ts'
import { print, say } from './terminal.ts'

const dataFile = (name: string) => readFileSync(join(packageRoot(), 'data', name), 'utf8').trim()

/** Every command knows the types of its own arguments. */
type Run = (context: Context<never>) => number | Promise<number>

const program = new Command('toolpost')

/** A part is loaded by the commands that use it. */
const COMMANDS: Record<string, () => Promise<Run>> = {
  tools: async () => (await import('./call.ts')).listTools,
  call: async () => (await import('./call.ts')).callTool,
  chat: async () => (await import('./chat.ts')).chat,
  doctor: async () => (await import('./doctor.ts')).examine,
  codegen: async () => (await import('./setup.ts')).generateCode,
  up: async () => (await import('./up.ts')).runUp,
  serve: async () => (await import('./up.ts')).runServe,
  worker: async () => (await import('./up.ts')).runWorker,
  calls: async () => (await import('./records.ts')).listCalls,
  eval: async () => (await import('./eval.ts')).runEval,
  approvals: async () => (await import('./records.ts')).decideApprovals,
  pins: async () => (await import('./records.ts')).showPins,
  runs: async () => (await import('./records.ts')).showRuns,
  workers: async () => (await import('./records.ts')).listWorkers,
  init: async () => (await import('./setup.ts')).writeConfig,
  add: async () => (await import('./setup.ts')).addServer,
  remove: async () => (await import('./setup.ts')).removeServer,
  auth: async () => (await import('./auth.ts')).logIn,
  token: async () => (await import('./records.ts')).printToken,
  trust: async () => (await import('./setup.ts')).trustConfig,
  completion: async () => printCompletion,
}

/** The others are ended by a signal wherever they are. */
const ENDS_ITSELF = /^(call|chat|up|serve|worker)$/

/** The export still waits for an unresponsive collector, and would keep the process alive. */
let isStillSending = false

/** Runs a command. Its project is closed afterwards: no process is left behind, even when stopped. */
async function run(name: string, words: unknown, flags: Flags): Promise<number> {
  const context: Context = {
    words,
    flags,
    open: async settings => (await import('./context.ts')).openContext(context, settings),
  }
  try {
    const code = Promise.resolve((await COMMANDS[name]?.())?.(context as Context<never>) ?? EXIT.usage)
    return await (ENDS_ITSELF.test(name) ? code : unlessStopped(code))
  } finally {
    await context.project?.close()
    if ((await context.telemetry?.close()) === false) isStillSending = true
  }
}

/** `toolpost completion bash|zsh`: prints a completion script, generated from the parser. */
function printCompletion({ words: [shell] }: Context<[string]>): number {
  const flagsOf = ({ options }: Command) => options.flatMap(({ long }) => long ?? []).join(' ')
  const names = program.commands.map(command => command.name())
  const cases = program.commands.map(each => `      ${each.name()}) words="${flagsOf(each)}"; break ;;`)
  const script = dataFile('completion.bash')
    .replace('{{words}}', `${names.join(' ')} ${flagsOf(program)}`)
    .replace('{{cases}}', cases.join('\n'))
  if (shell === 'zsh') print('autoload -U +X bashcompinit && bashcompinit')
  print(script)
  return EXIT.ok
}

/** Declares the commands and options of `data/commands.txt`, or those of one command; `<a|b>` takes one of these words. */
function addCommands(only?: string): void {
  for (const text of dataFile('commands.txt').split(/\n(?! )/)) {
    const [[what = '', does = ''] = [], ...options] = text
      .split('\n')
      .map(line => line.trim().split(/: (.*)/))
    const [name = ''] = what.split(' ', 1)
    if (only !== undefined && name !== only) continue
    const command = program.command(what).description(does)
    command.showHelpAfterError(`(see toolpost ${name} --help)`)
    command.action(async (...given) => {
      process.exitCode = await run(name, given.slice(0, -2), command.optsWithGlobals())
    })
    for (const argument of command.registeredArguments)
      if (argument.name().includes('|')) argument.choices(argument.name().split('|'))
    for (const [flags = '', use = ''] of options) {
      const option = new Option(flags, use)
      const [, choices] = /<(\w+\|.*)>/.exec(flags) ?? []
      if (choices) option.choices(choices.split('|'))
      if (use.endsWith('can be repeated')) option.argParser((one, all: string[] = []) => [...all, one])
      command.addOption(option)
    }
  }
}

async function main(words: string[]): Promise<void> {
  listenForSignals()
  // The reader of the output may be gone; the servers must be closed anyway.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  program
    .description('Executes the tool calls of AI models.')
    .option('--config <file>', 'configuration (default: toolpost.json here, else a built-in example)')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .option('-y, --yes', 'approve the commands of the configuration')
    .option('-V, --version', 'print the version')
    .configureHelp({ subcommandTerm: each => `${each.name()} ${each.usage()}`.replace(' [options]', '') })
    .exitOverride()
    .showHelpAfterError('(see toolpost --help)')
  // Declaring all of them takes longer than most calls.
  const [first = ''] = words
  addCommands(Object.hasOwn(COMMANDS, first) && first !== 'completion' ? first : undefined)
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if ((error as Error | undefined)?.name === 'NeedsModules')
      return void (await import(compiledFile('cli/main.js').href))
    process.exitCode = report(error)
  }
  // A command that exits with 0 handled the signal itself. Nothing is waited for, such as input.
  if (stop.exitCode !== undefined) process.exit(process.exitCode === EXIT.ok ? EXIT.ok : stop.exitCode)
  if (isStillSending) process.exit()
}

/** Mistakes in the command line, the configuration or a file; anything else is a defect of ours. */
const EXPECTED = /^(Stopped|UsageError|ConfigError|CassetteError|GatewayError|FilterError|HistoryError)$/

function report(error: unknown): number {
  // Commander has already reported what is wrong; help and version are not errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  const { name, path, code, message } = (error ?? {}) as NodeJS.ErrnoException
  if (!EXPECTED.test(name) && path === undefined) throw error
  const problem = code === 'ENOENT' ? `${path}: no such file or folder` : message
  say(error instanceof Stopped ? 'Stopped.' : `Error: ${problem}`)
  return error instanceof Stopped ? EXIT.failed : EXIT.usage
}

void main(process.argv.slice(2))
