import { Command, CommanderError } from 'commander'
import { compiledFile } from '../util/package-root.ts'
import type { ChatFlags } from './chat.ts'
import type { BareContext, CommandContext, GlobalOptions, ProjectWishes, SourceContext } from './context.ts'
import { EXIT, UsageError } from './exit-codes.ts'
import { GatewayClient } from './gateway-client.ts'
import { Stopped, stopSignals } from './stop-signals.ts'
import { say, type Terminal } from './terminal.ts'

type Run<Context> = (context: Context) => number | Promise<number>

const NO_SERVERS: ProjectWishes = { startsNothing: true }
const terminal: Terminal = { out: process.stdout, err: process.stderr }
const stop = stopSignals()
/** The export still waits for an unresponsive collector, and would keep the process alive. */
let isStillSending = false

const program = new Command('toolpost')
  .description('Executes the tool calls of AI models.')
  .option('--config <file>', 'configuration (default: toolpost.json here, else a built-in example)')
  .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
  .option('-y, --yes', 'approve the commands of the configuration; with init, accept all defaults')
  .option('-V, --version', 'print the version')
  .exitOverride()
  .showHelpAfterError('(see toolpost --help)')

const bareContext = (): BareContext => ({ options: program.opts<GlobalOptions>(), terminal, stop })

/** Runs a command without a project. */
async function bare(command: Run<BareContext>): Promise<void> {
  process.exitCode = await command(bareContext())
}

/** Runs a command in the project, which is closed afterwards: no process is left behind, even when stopped. */
async function within(command: Run<CommandContext>, wishes?: ProjectWishes): Promise<void> {
  const { openContext } = await import('./context.ts')
  const opened = await openContext(bareContext(), wishes)
  try {
    process.exitCode = await command(opened)
  } finally {
    await opened.project.close()
    if ((await opened.telemetry?.close()) === false) isStillSending = true
  }
}

/** Runs a command in the `toolpost up` of this configuration if there is one; otherwise in the project. */
async function either(command: Run<SourceContext>, wishes?: ProjectWishes, isLocal = false): Promise<void> {
  const { config, logLevel } = program.opts<GlobalOptions>()
  // Whoever wants to see the log wants the call in this process.
  const isOwn = isLocal || logLevel !== undefined || process.env.TOOLPOST_LOG
  const gateway = isOwn ? undefined : GatewayClient.running(config)
  const { localSource, remoteSource } = await import('./source.ts')
  const source = gateway && (await remoteSource(gateway))
  if (source) await bare(context => command({ ...context, source }))
  else await within(context => command({ ...context, source: localSource(context.project) }), wishes)
}

program
  .command('tools')
  .description('list the tools with their signatures, those of one server, or one tool with an example')
  .argument('[name]', 'a server, or a tool')
  .option('--json', 'as JSON, with schemas')
  .option('--search <words>', 'only matching tools, best match first')
  .action((name, flags) =>
    either(async context => (await import('./tools.ts')).listTools(context, name, flags)),
  )
program
  .command('call')
  .description('call a tool with JSON or key=value arguments; - reads JSON from standard input')
  .argument('<tool>')
  .argument('[arguments...]')
  .option('--json', 'print the whole result as JSON')
  .option('--timeout <ms>', 'deadline of the call')
  .option('--key <key>', 'make the call durable: repeating it with the same key returns the same run')
  .action((name, words, flags) =>
    either(async context => (await import('./call.ts')).callTool(context, { name, words, flags })),
  )
program
  .command('chat')
  .description('ask a question, or hold a conversation; piped input is one question per line')
  .argument('[question]')
  .option('--model <model>', 'ollama:<model>, anthropic:<model>, openai:<model> or offline')
  .option('--timeout <ms>', 'time limit for one answer')
  .option('--json', 'print each answer as a line of JSON, with its calls')
  .action((question: string | undefined, flags: ChatFlags) =>
    either(
      async context => {
        const source = await context.source.chat(flags.model)
        return (await import('./chat.ts')).chat({ ...context, source }, question, flags)
      },
      { model: { wanted: flags.model, isRequired: true } },
      flags.timeout !== undefined,
    ),
  )
program
  .command('doctor')
  .description('check that everything configured works')
  .action(() =>
    within(async context => (await import('./doctor.ts')).examine(context), {
      looksForItself: true,
      triesOnce: true,
    }),
  )
program
  .command('codegen')
  .description('generate typed functions that call the tools through the executor')
  .option('--out <file>', 'output file (default: standard output)')
  .action(flags =>
    within(async context => (await import('./codegen.ts')).generateCode(context, flags), {
      looksForItself: true,
    }),
  )

program
  .command('up')
  .description('start everything: tools, servers, HTTP API, MCP endpoint and console')
  .option(
    '--host <address>',
    'address to listen on (default: 127.0.0.1); any other requires a token that you chose',
  )
  .option('--port <number>', 'port to listen on (default: 4040, or the next free one)')
  .option('--token <token>', "the owner's token (default: TOOLPOST_TOKEN, or one kept in .toolpost/token)")
  .option('--allow-host <name...>', 'additional host names to accept')
  .option('--voice', 'listen and speak as well, with the voice gateway')
  .option('--no-worker', 'accept durable calls, but leave them to workers')
  .option('--record <file>', "append every call and the model's replies to a cassette")
  .option('--replay <file>', 'answer calls and questions from a cassette; nothing else runs')
  .action(async flags => {
    const { runUp, wishesOf } = await import('./up.ts')
    return within(
      context => runUp(context, flags),
      wishesOf(flags, text => say(terminal, text)),
    )
  })
program
  .command('serve')
  .description('serve the tools as an MCP server')
  .option('--stdio', 'on standard input and output')
  .action(flags => within(async context => (await import('./serve.ts')).runServe(context, flags)))
program
  .command('worker')
  .description("run durable calls with this machine's tools, and offer them to gateways elsewhere")
  .option('--pool <name>', 'pool of workers to join (default: as configured)')
  .action(({ pool }: { pool?: string }) => {
    if (pool !== undefined && !/^[A-Za-z0-9][\w-]{0,31}$/.test(pool))
      throw new UsageError(`--pool expects at most 32 letters, digits, _ or -, got '${pool}'`)
    return within(async context => (await import('./up.ts')).runWorker(context), {
      durable: { role: 'worker', pool, stays: true },
    })
  })

program
  .command('calls')
  .description('list past calls, newest first; show one: calls show ID; or export them: calls export')
  .argument('[action]', 'show or export')
  .argument('[id]', 'its id, or the beginning of it')
  .option('--tool <name>', 'only of this tool')
  .option('--server <name>', "only of this server's tools; local for tools without a server")
  .option('--caller <name>', 'only by this caller')
  .option('--failed', 'only those that failed')
  .option('--outcome <outcome>', 'ok, failed, or a failure code')
  .option('--search <words>', 'only those with these words in tool, arguments, result or error')
  .option('--since <time>', '1h, 2d, or a date')
  .option('--until <time>', '1h, 2d, or a date')
  .option('--limit <number>', 'maximum number (default: 20; 1000 for an export)')
  .option('--json', 'as JSON')
  .option('--cassette', 'export as a cassette, to be replayed')
  .action((action, id, flags) =>
    within(
      async context => (await import('./records.ts')).listCalls(context, { action, id, flags }),
      NO_SERVERS,
    ),
  )
program
  .command('eval')
  .description('ask models the questions of a file, and score the calls they make; or begin one: eval init')
  .argument('[cases]', 'a YAML file, or init (default: a set for the example home)')
  .option('--model <model>', 'a model to ask, as for chat; can be repeated', (model, all: string[] = []) => [
    ...all,
    model,
  ])
  .option('--repeat <number>', 'how often to ask each question (default: 1)')
  .option('--run', 'run the tools instead of mocking them')
  .option('--min <score>', 'exit with 1 if a model scores less, from 0 to 1')
  .option('--html <file>', 'write a report as a web page')
  .option('--json', 'as JSON')
  .option('--from-history', 'with init: cases from past chats')
  .action((file, flags) => within(async context => (await import('./eval.ts')).runEval(context, file, flags)))
program
  .command('approvals')
  .description('list the calls waiting for approval at the running gateway, or decide one')
  .argument('[decision]', 'approve or deny')
  .argument('[id]', 'its id, or the beginning of it')
  .option('--remember <how>', 'remember the decision: session or always')
  .option('--scope <what>', 'what is remembered: this tool or every tool of its server (default: tool)')
  .option('--url <address>', "the gateway's address (default: the one running in this folder)")
  .option('--token <token>', "the gateway's token (default: TOOLPOST_TOKEN, or this folder's)")
  .option('--json', 'list as JSON')
  .action((decision, id, flags) =>
    within(
      async context => (await import('./records.ts')).decideApprovals(context, { decision, id, flags }),
      NO_SERVERS,
    ),
  )
program
  .command('pins')
  .description('show what servers changed about their tools since you accepted them, or accept it')
  .argument('[action]', 'accept')
  .argument('[server]', 'only of this server')
  .option('--json', 'as JSON')
  .action((action, server, flags) =>
    within(async context => (await import('./trust.ts')).showPins(context, { action, server, flags })),
  )
// These use the database: no gateway has to run.
const reader = { durable: { role: 'gateway' }, startsNothing: true } as const
program
  .command('runs')
  .description('list durable runs, newest first; show one with its steps and result, or cancel it')
  .argument('[id]')
  .option('--cancel', 'cancel the run')
  .option('--state <state>', 'waiting, approval, running, done, failed or cancelled')
  .option('--tool <name>', 'only of this tool')
  .option('--limit <number>', 'maximum number (default: 20)')
  .option('--json', 'as JSON')
  .action((id, flags) =>
    within(async context => (await import('./durable.ts')).showRuns(context, id, flags), reader),
  )
program
  .command('workers')
  .description('list the processes that run or accept durable calls, on all machines')
  .option('--json', 'as JSON')
  .action(flags =>
    within(async context => (await import('./durable.ts')).listWorkers(context, flags), reader),
  )

program
  .command('init')
  .description('write a toolpost.json here, with the MCP servers of other programs on this machine')
  .action(() => bare(async context => (await import('./setup.ts')).writeConfig(context)))
program
  .command('add')
  .description('try an MCP server, and add it to toolpost.json: toolpost add NAME -- command …')
  .argument('<name>')
  .argument('[command...]', 'the program and its arguments, after --')
  .option('--url <address>', 'a server over HTTP instead')
  .option('--env <name=value...>', 'environment of the program')
  .option('--header <name:value...>', 'header to send with every request')
  .option('--trust', 'rely on what it says about its tools')
  .option('--no-check', 'add it without trying it')
  .option('--force', 'replace a server of this name')
  .action((name, command, flags) =>
    bare(async context => (await import('./setup.ts')).addServer(context, { name, command, flags })),
  )
program
  .command('remove')
  .description('remove an MCP server from toolpost.json')
  .argument('<name>')
  .action(name => bare(async context => (await import('./setup.ts')).removeServer(context, name)))
program
  .command('auth')
  .description('log in to an MCP server, in the browser')
  .argument('<server>', 'its name under mcpServers')
  .option('--no-browser', 'print the address of the login page instead of opening it')
  .option('--logout', 'log out, and revoke the login if the server supports it')
  .action((server, flags) =>
    within(async context => (await import('./auth.ts')).logIn(context, server, flags)),
  )
program
  .command('token')
  .description("print the token of this folder's gateway")
  .option('--new', 'make a new one; the old one is no longer valid')
  .action(flags =>
    within(async context => (await import('./records.ts')).printToken(context, flags), NO_SERVERS),
  )
program
  .command('trust')
  .description('approve the commands in toolpost.json on this machine, without running them')
  .action(() => within(async context => (await import('./trust.ts')).trustConfig(context), NO_SERVERS))
program
  .command('completion')
  .description('print a completion script for your shell')
  .argument('<shell>', 'bash, zsh or fish')
  .action(shell =>
    bare(async () => (await import('./completion.ts')).printCompletion(program, shell, terminal)),
  )

async function main(words: string[]): Promise<void> {
  // The reader of the output may be gone; the servers must be closed anyway.
  for (const stream of [terminal.out, terminal.err]) stream.on('error', () => {})
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
  if (error instanceof Stopped) {
    say(terminal, 'Stopped.')
    return EXIT.failed
  }
  if (!(error instanceof UsageError) && (error as Error | undefined)?.name !== 'ConfigError') throw error
  say(terminal, `Error: ${(error as Error).message}`)
  return EXIT.usage
}

void main(process.argv.slice(2))
