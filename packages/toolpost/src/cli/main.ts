import { Command, CommanderError } from 'commander'
import { ConfigError } from '../project/config.ts'
import { compiledFile } from '../runtime/package-root.ts'
import { type ApprovalFlags, decideApprovals } from './commands/approvals.ts'
import type { AuthFlags } from './commands/auth.ts'
import { type CallFlags, callTool } from './commands/call.ts'
import type { CallsFlags } from './commands/calls.ts'
import type { ChatFlags } from './commands/chat.ts'
import type { ServeFlags } from './commands/serve.ts'
import { listTools, type ToolsFlags } from './commands/tools.ts'
import type { UpFlags } from './commands/up.ts'
import { type CommandContext, type GlobalOptions, NeedsModules, openContext, type Within } from './context.ts'
import { addDurableCommands } from './durable-commands.ts'
import { EXIT, UsageError } from './exit-codes.ts'
import { addSetupCommands } from './setup-commands.ts'
import { Stopped, type StopSignals, stopSignals } from './stop-signals.ts'
import { say, type Terminal } from './terminal.ts'

const terminal: Terminal = { out: process.stdout, err: process.stderr }
/** The export still waits for an unresponsive collector, and would keep the process alive. */
let isStillSending = false

function createProgram(stop: StopSignals): Command {
  const program = new Command('toolpost')
    .description('Executes the tool calls of AI models.')
    .option('--config <file>', 'configuration (default: toolpost.json here, else a built-in example)')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .option('-V, --version', 'print the version')
    .exitOverride()
    .showHelpAfterError('(see toolpost --help)')
  const within: Within = async (command, wishes) => {
    const context = await openContext(program.opts<GlobalOptions>(), { terminal, stop }, wishes)
    try {
      process.exitCode = await command(context)
    } finally {
      await context.project.close()
      if ((await context.telemetry?.close()) === false) isStillSending = true
    }
  }
  program
    .command('tools')
    .description('list the tools with their signatures, those of one server, or one tool with an example')
    .argument('[name]', 'a server, or a tool')
    .option('--json', 'as JSON, with schemas')
    .option('--search <words>', 'only matching tools, best match first')
    .action((name: string | undefined, flags: Omit<ToolsFlags, 'name'>) =>
      within(context => listTools(context, { ...flags, name })),
    )
  program
    .command('call')
    .description('call a tool with JSON or key=value arguments; - reads JSON from standard input')
    .argument('<tool>')
    .argument('[arguments...]')
    .option('--json', 'print the whole result as JSON')
    .option('--timeout <ms>', 'deadline of the call')
    .option('--key <key>', 'make the call durable: repeating it with the same key returns the same run')
    .action((name: string, words: string[], flags: CallFlags) =>
      within(async context => {
        await noteCalls(context)
        return callTool(context, { name, words, flags })
      }),
    )
  program
    .command('chat')
    .description('ask a question, or hold a conversation; piped input is one question per line')
    .argument('[question]')
    .option('--model <model>', 'ollama:<model>, anthropic:<model> or offline')
    .option('--timeout <ms>', 'time limit for one answer')
    .option('--json', 'print each answer as a line of JSON, with its calls')
    .action((question: string | undefined, flags: ChatFlags) =>
      within(
        async context => {
          const { chat } = await import('./commands/chat.ts')
          await noteCalls(context)
          return chat(context, question, flags)
        },
        { model: { wanted: flags.model, isRequired: true } },
      ),
    )
  program
    .command('approvals')
    .description('list the calls waiting for approval at the running gateway, or decide one')
    .argument('[decision]', 'approve or deny')
    .argument('[id]')
    .option('--remember <how>', 'remember the decision: session or always')
    .option('--url <address>', "the gateway's address (default: the one running in this folder)")
    .option('--token <token>', "the gateway's token (default: TOOLPOST_TOKEN, or this folder's)")
    .option('--json', 'list as JSON')
    .action((decision: string | undefined, id: string | undefined, flags: ApprovalFlags) =>
      within(context => decideApprovals(context, { decision, id, flags })),
    )
  program
    .command('token')
    .description("print the token of this folder's gateway")
    .option('--new', 'make a new one; the old one is no longer valid')
    .action((flags: { new?: boolean }) =>
      within(async context => (await import('./commands/token.ts')).printToken(context, flags)),
    )
  program
    .command('auth')
    .description('log in to an MCP server, in the browser')
    .argument('<server>', 'its name under mcpServers')
    .option('--no-browser', 'print the address of the login page instead of opening it')
    .option('--logout', 'log out, and revoke the login if the server supports it')
    .action((server: string, flags: AuthFlags) =>
      within(async context => (await import('./commands/auth.ts')).logIn(context, server, flags)),
    )
  program
    .command('calls')
    .description('list past calls, newest first')
    .option('--tool <name>', 'only of this tool')
    .option('--server <name>', "only of this server's tools; local for tools without a server")
    .option('--caller <name>', 'only by this caller')
    .option('--failed', 'only those that failed')
    .option('--outcome <outcome>', 'ok, failed, or a failure code')
    .option('--search <words>', 'only those with these words in tool, arguments, result or error')
    .option('--since <time>', '1h, 2d, or a date')
    .option('--until <time>', '1h, 2d, or a date')
    .option('--limit <number>', 'maximum number (default: 20)')
    .option('--json', 'as JSON')
    .action((flags: CallsFlags) =>
      within(async context => {
        const { listCalls } = await import('./commands/calls.ts')
        return listCalls(context, flags)
      }),
    )
  program
    .command('doctor')
    .description('check that everything configured works')
    .action(() =>
      within(async context => (await import('./commands/doctor.ts')).examine(context), {
        looksForItself: true,
        triesOnce: true,
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
    .action(async (flags: UpFlags) => {
      const { runUp, wishesOf } = await import('./commands/up.ts')
      return within(context => runUp(context, flags), wishesOf(flags))
    })
  program
    .command('serve')
    .description('serve the tools as an MCP server')
    .option('--stdio', 'on standard input and output')
    .action((flags: ServeFlags) =>
      within(async context => (await import('./commands/serve.ts')).runServe(context, flags)),
    )
  addDurableCommands(program, within)
  addSetupCommands(program, { terminal, stop, within })
  return program
}

/** Calls from the command line go into the history too, if there is one, once their answer is printed. */
function noteCalls({ project }: CommandContext): Promise<void> {
  return project.keepHistory({ lazy: true, unasked: false })
}

async function main(words: string[]): Promise<void> {
  // The reader of the output may be gone; the servers must be closed anyway.
  for (const stream of [terminal.out, terminal.err]) stream.on('error', () => {})
  const stop = stopSignals()
  try {
    await createProgram(stop).parseAsync(words, { from: 'user' })
  } catch (error) {
    if (error instanceof NeedsModules) return void (await import(compiledFile('cli/main.js').href))
    process.exitCode = report(error)
  } finally {
    stop.forget()
  }
  if (stop.exitCode !== undefined) endStopped(stop.exitCode)
  if (isStillSending) process.exit()
}

/** A command that exits with 0 handles the signal itself. Exits without waiting for anything, such as input. */
function endStopped(exitCode: number): never {
  process.exit(process.exitCode === EXIT.ok ? EXIT.ok : exitCode)
}

function report(error: unknown): number {
  // Commander has already reported what is wrong; help and version are not errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof Stopped) {
    say(terminal, 'Stopped.')
    return EXIT.failed
  }
  if (!(error instanceof ConfigError || error instanceof UsageError)) throw error
  say(terminal, `Error: ${error.message}`)
  return EXIT.usage
}

void main(process.argv.slice(2))
