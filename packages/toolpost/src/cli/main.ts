import { Command, CommanderError } from 'commander'
import { compiledFile } from '../util/package-root.ts'
import type { BareContext, CommandContext, Flags, ProjectSettings } from './context.ts'
import { EXIT, listenForSignals, Stopped, stop, unlessStopped } from './exit.ts'
import type { SourceContext } from './source.ts'
import { say } from './terminal.ts'

/** Every command with its arguments and options. */
const COMMANDS = `
tools [name]: list the tools with their signatures, those of one server, or one tool with an example
  --json: as JSON, with schemas
  --search <words>: only matching tools, best match first
call <tool> [arguments...]: call a tool with JSON or key=value arguments; - reads JSON from standard input
  --json: print the whole result as JSON
  --timeout <ms>: deadline of the call
  --key <key>: make the call durable: repeating it with the same key returns the same run
chat [question]: ask a question, or hold a conversation; piped input is one question per line
  --model <model>: ollama:<model>, anthropic:<model>, openai:<model> or offline
  --timeout <ms>: time limit for one answer
  --json: print each answer as a line of JSON, with its calls
doctor: check that everything configured works
codegen: generate typed functions that call the tools through the executor
  --out <file>: output file (default: standard output)
up: start everything: tools, servers, HTTP API, MCP endpoint and console
  --host <address>: address to listen on (default: 127.0.0.1); any other requires a token that you chose
  --port <number>: port to listen on (default: 4040, or the next free one)
  --token <token>: the owner's token (default: TOOLPOST_TOKEN, or one kept in .toolpost/token)
  --allow-host <name...>: additional host names to accept
  --voice: listen and speak as well, with the voice gateway
  --no-worker: accept durable calls, but leave them to workers
  --record <file>: append every call and the model's replies to a cassette
  --replay <file>: answer calls and questions from a cassette; nothing else runs
serve: serve the tools as an MCP server
  --stdio: on standard input and output
worker: run durable calls with this machine's tools, and offer them to gateways elsewhere
calls [action] [id]: list past calls, newest first; show one: calls show ID; or export them: calls export
  --tool <name>: only of this tool
  --failed: only those that failed
  --search <words>: only those with these words in tool, arguments, result or error
  --since <time>: 1h, 2d, or a date
  --limit <number>: maximum number (default: 20; 1000 for an export)
  --json: as JSON
  --cassette: export as a cassette, to be replayed
eval [cases]: ask models the questions of a file, and score the calls they make; or begin one: eval init
  --model <model>: a model to ask, as for chat; can be repeated
  --repeat <number>: how often to ask each question (default: 1)
  --run: run the tools instead of mocking them
  --min <score>: exit with 1 if a model scores less, from 0 to 1
  --html <file>: write a report as a web page
  --json: as JSON
  --from-history: with init: cases from past chats
approvals [decision] [id]: list the calls waiting for approval at the running gateway, or decide one
  --remember <how>: remember the decision: session or always
  --url <address>: the gateway's address (default: the one running in this folder)
  --token <token>: the gateway's token (default: TOOLPOST_TOKEN, or this folder's)
  --json: list as JSON
pins [action] [server]: show what servers changed about their tools since you accepted them, or accept it
  --json: as JSON
runs [id]: list durable runs, newest first; show one with its steps and result, or cancel it
  --cancel: cancel the run
  --limit <number>: maximum number (default: 20)
  --json: as JSON
workers: list the processes that run or accept durable calls, on all machines
  --json: as JSON
init: write a toolpost.json here, with the MCP servers of other programs on this machine
  --trust: rely on what they say about their tools
add <name> [command...]: try an MCP server, and add it to toolpost.json: toolpost add NAME -- command …
  --url <address>: a server over HTTP instead
  --env <name=value...>: environment of the program
  --header <name:value...>: header to send with every request
  --trust: rely on what it says about its tools
  --no-check: add it without trying it
  --force: replace a server of this name
remove <name>: remove an MCP server from toolpost.json
auth <server>: log in to an MCP server, in the browser
  --no-browser: print the address of the login page instead of opening it
  --logout: log out: delete the login
token: print the token of this folder's gateway
  --new: make a new one; the old one is no longer valid
trust: approve the commands in toolpost.json on this machine, without running them
completion <shell>: print a completion script for your shell
`

/** Every command knows the types of its own arguments. */
type Load<Context> = () => Promise<(context: Context) => number | Promise<number>>
type Action = (context: BareContext<never>) => Promise<number>
type SettingsFor = (flags: Flags) => ProjectSettings | Promise<ProjectSettings>

const program = new Command('toolpost')
/** The export still waits for an unresponsive collector, and would keep the process alive. */
let isStillSending = false

function bare(load: Load<BareContext<never>>): Action {
  return async context => unlessStopped(Promise.resolve((await load())(context)))
}

/** Runs a command in the project, which is closed afterwards: no process is left behind, even when stopped. */
function within(
  load: Load<CommandContext<never>>,
  settings: SettingsFor = () => ({}),
  endsItself = false,
): Action {
  return async context => {
    const { openContext } = await import('./context.ts')
    const opened = await openContext(context, await settings(context.flags))
    try {
      const code = Promise.resolve((await load())(opened))
      return await (endsItself ? code : unlessStopped(code))
    } finally {
      await opened.project.close()
      if ((await opened.telemetry?.close()) === false) isStillSending = true
    }
  }
}

/** Runs a command in the `toolpost up` of this configuration if there is one; otherwise in the project. */
function either(load: Load<SourceContext<never>>, settings?: SettingsFor): Action {
  return async context => {
    const { options, flags } = context
    const { NoGateway, runningGateway } = await import('./gateway-client.ts')
    const { localSource, remoteSource } = await import('./source.ts')
    // Whoever wants to see the log, or another model or time limit for a chat, wants it from this process.
    const isOwn = options.logLevel !== undefined || (settings && (flags.timeout || flags.model))
    const gateway = isOwn ? undefined : runningGateway(options.config)
    const run = await load()
    try {
      if (gateway) return await run({ ...context, source: remoteSource(gateway) })
    } catch (error) {
      if (!(error instanceof NoGateway)) throw error
    }
    const here: Load<CommandContext<never>> = async () => async opened =>
      run({ ...opened, source: await localSource(opened.project) })
    return within(here, settings, true)(context)
  }
}

const noServers = () => ({ startsNothing: true })
/** These use the database: no gateway has to run. */
const reader = () => ({ durable: { role: 'gateway' }, startsNothing: true }) as const
const worker = () => ({ durable: { role: 'worker', stays: true } }) as const
const inspector = () => ({ looksForItself: true, triesOnce: true })
const chatter = ({ model }: Flags) => ({ model: { wanted: model as string | undefined, isRequired: true } })
const server = async (flags: Flags) => (await import('./up.ts')).settingsFor(flags)

const ACTIONS: Record<string, Action> = {
  tools: either(() => import('./tools.ts').then(each => each.listTools)),
  call: either(() => import('./call.ts').then(each => each.callTool)),
  chat: either(() => import('./chat.ts').then(each => each.chat), chatter),
  doctor: within(() => import('./doctor.ts').then(each => each.examine), inspector),
  codegen: within(
    () => import('./codegen.ts').then(each => each.generateCode),
    () => ({ looksForItself: true }),
  ),
  up: within(() => import('./up.ts').then(each => each.runUp), server, true),
  serve: within(() => import('./serve.ts').then(each => each.runServe), undefined, true),
  worker: within(() => import('./up.ts').then(each => each.runWorker), worker, true),
  calls: within(() => import('./records.ts').then(each => each.listCalls), noServers),
  eval: within(() => import('./eval.ts').then(each => each.runEval)),
  approvals: within(() => import('./records.ts').then(each => each.decideApprovals), noServers),
  pins: within(() => import('./records.ts').then(each => each.showPins)),
  runs: within(() => import('./durable.ts').then(each => each.showRuns), reader),
  workers: within(() => import('./durable.ts').then(each => each.listWorkers), reader),
  init: bare(() => import('./setup.ts').then(each => each.writeConfig)),
  add: bare(() => import('./setup.ts').then(each => each.addServer)),
  remove: bare(() => import('./setup.ts').then(each => each.removeServer)),
  auth: within(() => import('./auth.ts').then(each => each.logIn)),
  token: within(() => import('./records.ts').then(each => each.printToken), noServers),
  trust: within(() => import('./setup.ts').then(each => each.trustConfig), noServers),
  completion: bare(() => import('./completion.ts').then(each => each.printCompletion(program))),
}

function addCommands(): void {
  let command = program
  for (const line of COMMANDS.trim().split('\n')) {
    const [, indent, what = '', does = ''] = /^( *)(.+?): (.*)$/.exec(line) ?? []
    if (indent === '') {
      command = program.command(what).description(does)
      const action = ACTIONS[command.name()] as Action
      command.action(async (...given) => {
        const [words, flags] = [given.slice(0, -2) as never, given.at(-2) as Flags]
        process.exitCode = await action({ words, flags, options: program.opts() })
      })
    } else if (!does.endsWith('can be repeated')) command.option(what, does)
    else command.option(what, does, (one: string, all: string[] = []) => [...all, one])
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
    .exitOverride()
    .showHelpAfterError('(see toolpost --help)')
  addCommands()
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

function report(error: unknown): number {
  // Commander has already reported what is wrong; help and version are not errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  const { name, path } = (error ?? {}) as NodeJS.ErrnoException
  // A file that cannot be read or written is no defect of ours.
  const isExpected = /^(Stopped|UsageError|ConfigError|CassetteError)$/.test(name) || path !== undefined
  if (!isExpected) throw error
  say(error instanceof Stopped ? 'Stopped.' : `Error: ${(error as Error).message}`)
  return error instanceof Stopped ? EXIT.failed : EXIT.usage
}

void main(process.argv.slice(2))
